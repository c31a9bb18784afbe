"""Errors as users of many projects reported them: the project, the family they belong to, and the lines of the log.

The lines are put together anew from public reports; names, paths and numbers are ours.
"""

from __future__ import annotations

FRAMES = 'Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 31, in <module>\n    main()\n'


def raised(message: str) -> str:
    """The message behind a traceback of the user's program."""
    return FRAMES + message


# project, family, what the log ends with
REPORTED: list[tuple[str, str, str]] = [
    # the device's memory
    ("facebookresearch/detectron2", "error-device-memory",
     "ERROR [06/09 11:05:25 d2.engine.train_loop]: Exception during training:\n"
     + raised("RuntimeError: CUDA out of memory. Tried to allocate 1.71 GiB (GPU 0; 31.72 GiB total capacity)")
     + "\n[06/09 11:05:25 d2.engine.hooks]: Overall training speed: 22 iterations in 0:01:02 (2.8448 s / it)"
     "\n[06/09 11:05:25 d2.engine.hooks]: Total training time: 0:01:02 (0:00:00 on hooks)"),
    ("PaddlePaddle/PaddleDetection", "error-device-memory",
     "ResourceExhaustedError: \n\nOut of memory error on GPU 0. Cannot allocate 288.000000MB memory on GPU 0,"
     " 10.7GB memory has been allocated and available memory is only 201.MB."),
    ("Ascend/pytorch", "error-device-memory",
     raised("RuntimeError: NPU out of memory. Tried to allocate 1.16 GiB (NPU 3; 60.97 GiB total capacity)")),
    ("HabanaAI/optimum-habana", "error-device-memory",
     raised("RuntimeError: synNodeCreate failed for node: batch_gemm with synStatus 1 [Device out of memory].")),
    ("pytorch/xla", "error-device-memory",
     raised("RuntimeError: RESOURCE_EXHAUSTED: Attempting to reserve 9.74G at the bottom of memory. That was not"
            " possible. There are 7.1G free.")),
    ("dmlc/xgboost", "error-device-memory",
     raised("xgboost.core.XGBoostError: [12:03:11] /workspace/src/c_api/../data/../common/device_helpers.cuh:428:"
            " Memory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory")),
    ("vllm-project/vllm", "error-device-memory",
     raised("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when"
            " initializing the engine.")),
    # the host's memory
    ("ray-project/ray", "error-host-memory",
     "(raylet) [2024-05-11 02:11:40,119 E 4411 4411] (raylet) node_manager.cc:3065: 3 Workers (tasks / actors) killed"
     " due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 7a, IP: 10.0.0.7)"),
    ("huggingface/datasets", "error-host-memory",
     raised("pyarrow.lib.ArrowMemoryError: malloc of size 8589934592 failed")),
    ("dask/distributed", "error-host-memory",
     raised("distributed.scheduler.KilledWorker: Attempted to run task 'fit-7f' on 4 different workers, but all those"
            " workers died while running it.")),
    ("microsoft/LightGBM", "error-host-memory",
     "[LightGBM] [Fatal] bad allocation\nlightgbm.basic.LightGBMError: bad allocation"),
    # ended from outside
    ("PeterGriffinJin/Search-R1", "error-killed",
     "(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the"
     " problem, check the logs for the dead worker. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker"
     " unexpectedly exits with a connection error code 2. End of file."),
    ("google/orbax", "error-preempted",
     "W0801 11:02:17.118 multihost_utils.py:88] Reached preemption sync point at step 4120, SIGTERM received\n"
     "preemption notice: the instance is being preempted"),
    ("skypilot-org/skypilot", "error-preempted",
     "I 07-02 10:11:12 controller.py:188] Cluster train-ab12 is preempted or failed (status: STOPPED). Recovering..."),
    ("aws/sagemaker-python-sdk", "error-time-limit",
     "sagemaker.exceptions.UnexpectedStatusException: Error for Training job ft-7: Stopped. Reason:"
     " MaxRuntimeExceeded, exit code: 143"),
    # the accelerator and its software
    ("EleutherAI/gpt-neox", "error-cuda-environment",
     raised("ImportError: /venv/lib/python3.8/site-packages/flash_attn_2_cuda.cpython-38-x86_64-linux-gnu.so: undefined"
            " symbol: _ZN3c104cuda20CUDACachingAllocator9allocatorE")),
    ("PaddlePaddle/Paddle", "error-cuda-environment",
     raised("OSError: (External) CUDA error(98), invalid device function. \n  [Hint: 'cudaErrorInvalidDeviceFunction'."
            " The requested device function does not exist or is not compiled for the proper device architecture.]")),
    ("jax-ml/jax", "error-cuda-environment",
     raised("RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid"
            " 176028. Not attempting to load libtpu.so in this process.")),
    ("bitsandbytes-foundation/bitsandbytes", "error-cuda-environment",
     raised("RuntimeError: \n        CUDA Setup failed despite GPU being available. Please run the following command to"
            " get more information")),
    ("unslothai/unsloth", "error-cuda-environment",
     raised("NotImplementedError: Unsloth currently only works on NVIDIA GPUs and Intel GPUs.")),
    ("ROCm/ROCm", "error-cuda-environment",
     "rocBLAS error: Cannot read /opt/rocm/lib/library/TensileLibrary.dat: Illegal seek for GPU arch : gfx1031\n"
     "Aborted (core dumped)"),
    ("ROCm/pytorch", "error-cuda-environment",
     raised("RuntimeError: HIP error: invalid device function\nHIP kernel errors might be asynchronously reported")),
    ("jade-hpc-gpu/jade-hpc-gpu.github.io", "error-gpu-hardware",
     raised("RuntimeError: CUDA error: uncorrectable ECC error encountered")),
    ("NVIDIA/NVSentinel", "error-gpu-hardware",
     "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0\n               NVRM: (PCI ID: 10de:26b5) installed in this"
     " system has\n               NVRM: fallen off the bus and is not responding to commands."),
    ("rwth-i6/returnn", "error-gpu-hardware",
     "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error"),
    ("PaddlePaddle/PaddleOCR", "error-device-assert",
     raised("OSError: (External) CUDA error(719), unspecified launch failure. \n  [Hint: 'cudaErrorLaunchFailure'.]")),
    # ranks
    ("NVIDIA/nccl", "error-collective",
     raised("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268,"
            " unhandled system error, NCCL version 2.22.3\nncclSystemError: System call (e.g. socket, malloc) or"
            " external library call failed or device error.")),
    ("hiyouga/LlamaFactory", "error-collective",
     raised("RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64")),
    ("vllm-project/vllm-ascend", "error-collective-timeout",
     raised("RuntimeError: npuSynchronizeDevice:build/torch_npu.dir/compiler_depend.ts:479 NPU function error:"
            " AclrtSynchronizeDeviceWithTimeout, error code is 507048\nEI0002: The wait execution of the Notify"
            " register times out. Reason: The Notify register has not received the Notify record from remote rank")),
    ("horovod/horovod", "error-collective-timeout",
     "[2024-03-02 10:11:12.118: W /tmp/horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be"
     " reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60"
     " seconds. \nMissing ranks:\n1: [DistributedAdam_Allreduce/grad_0]"),
    ("google/maxtext", "error-rendezvous",
     raised("jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id:"
            " PjRT_Client_Connect. Timed out task names: /job:jax_worker/replica:0/task:3")),
    ("Lightning-AI/pytorch-lightning", "error-rendezvous",
     raised("torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address."
            " port: 12910, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use")),
    ("NVIDIA/Megatron-LM", "error-config",
     raised("AssertionError: world size (6) is not divisible by tensor_model_parallel_size (4)")),
    # loaders and data
    ("msr-fiddle/pipedream", "error-shared-memory",
     "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."),
    ("bene-ges/nemo_compatible", "error-loader-worker",
     "ERROR: Unexpected segmentation fault encountered in worker.\n"
     + raised("RuntimeError: DataLoader worker (pid(s) 7712) exited unexpectedly")),
    ("facebookresearch/fairseq", "error-missing-file",
     raised("Exception: The dataset is empty. This could indicate that all elements in the dataset have been skipped."
            " Try increasing the max number of allowed tokens or using a larger dataset.")),
    ("NVIDIA-NeMo/Speech", "error-missing-file",
     raised("ValueError: num_samples should be a positive integer value, but got num_samples=0")),
    ("microsoft/muzic", "error-missing-file",
     raised("FileNotFoundError: Dataset not found: valid (data/lmd_processed/valid)")),
    ("xi-j/Mamba-ASR", "error-missing-file",
     "speechbrain.core - Exception:\n"
     + raised("FileNotFoundError: [Errno 2] No such file or directory: 'manifests/train.csv'")),
    ("ultralytics/ultralytics", "error-missing-file",
     raised("RuntimeError: Dataset 'coco8.yaml' error ❌ \nDataset 'coco8.yaml' images not found ⚠️, missing path"
            " '/datasets/coco8/images/val'")),
    ("PaddlePaddle/Paddle", "error-label-range",
     "Error: Variable value (label) of OP(fluid.layers.cross_entropy) expected >= 0 and < 5, but got 5. Please check"
     " label value. at (/paddle/paddle/fluid/operators/cross_entropy_op.h:175)"),
    ("EricFillion/happy-transformer", "error-label-range", raised("IndexError: Target -1 is out of bounds.")),
    ("yun-liu/RCF", "error-label-range",
     "C:\\pytorch\\aten\\src\\ATen\\native\\cuda\\Loss.cu:106: block: [107,0,0], thread: [117,0,0] Assertion"
     " `target_val >= zero && target_val <= one` failed."),
    ("dmlc/xgboost", "error-label-range",
     raised("xgboost.core.XGBoostError: [10:11:12] src/multiclass_obj.cu:123: SoftmaxMultiClassObj: label must"
            " be in [0, num_class).")),
    ("pyg-team/pytorch_geometric", "",  # an index of any kind: the message alone does not say which
     raised("IndexError: index 2708 is out of bounds for dimension 0 with size 2708")),
    # checkpoints
    ("pytorch/pytorch", "error-checkpoint-corrupt",
     raised("RuntimeError: PytorchStreamReader failed reading file .format_version: invalid header or archive is"
            " corrupted. This is an internal miniz error.")),
    ("Comfy-Org/ComfyUI", "error-checkpoint-corrupt",
     raised("safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully"
            " covered")),
    ("cientgu/InstructDiffusion", "error-checkpoint-corrupt",
     raised("RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory")),
    ("AI-Hypercomputer/maxtext", "error-checkpoint-keys",
     raised("ValueError: Requested shape: (11008, 32, 4096) is not compatible with the stored shape: (32, 4096, 11008)."
            " Truncating/padding is disabled by setting of `strict=True`.")),
    ("SlopDotCash/asi", "error-checkpoint-keys",
     raised("ValueError: State structure mismatch. Ensure the learner architecture matches the saved checkpoint.")),
    ("DLR-RM/stable-baselines3", "error-checkpoint-keys",
     raised("ValueError: Observation spaces do not match: Box(-inf, inf, (17,), float32) != Box(-inf, inf, (11,),"
            " float32)")),
    ("keras-team/keras", "error-checkpoint-keys",
     raised("ValueError: A total of 4 objects could not be loaded. Example error message for <Dense name=dense>:")),
    # settings and packages
    ("dyzy41/ChangeCLIP", "error-config",
     raised("KeyError: 'ChangeCLIP is not in the mmseg::model registry. Please check whether the value of `ChangeCLIP`"
            " is correct or it was registered as expected.'")),
    ("open-mmlab/mmrotate", "error-config",
     raised("KeyError: \"RotatedRetinaNet: 'CFPN is not in the models registry'\"")),
    ("huggingface/pytorch-image-models", "error-config", raised("RuntimeError: Unknown model (vit_smal_patch16_224)")),
    ("facebookresearch/detectron2", "error-config",
     raised("KeyError: \"No object named 'MyHead' found in 'ROI_HEADS' registry!\"")),
    ("axolotl-ai-cloud/axolotl", "error-config",
     raised("pydantic_core._pydantic_core.ValidationError: 1 validation error for AxolotlInputConfig\n  Value error,"
            " please set only one of gradient_accumulation_steps or batch_size")),
    ("gentaiscool/end2end-asr-pytorch", "error-dependency",
     raised("ImportError: cannot import name 'create_manifest' from 'utils' (/home/u/proj/utils/__init__.py)")),
    ("deepspeedai/DeepSpeed", "error-cuda-environment",
     raised("deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version"
            " 12.4 does not match the version torch was compiled with 11.8, unable to compile cuda/cpp extensions")),
    ("google-deepmind/alphafold3", "error-native-crash",
     "*** SIGSEGV (@0x10) received by PID 2260154 (TID 2260154) on cpu 10; stack trace: ***\nPC: @     0x7f6e3c6420e9"
     "  (unknown)  (unknown)"),
    # one message, several meanings: the line that raised tells them apart
    ("google/flax", "error-checkpoint-keys",
     raised("ValueError: The target dict keys and state dict keys do not match, target dict contains keys {'head'}"
            " which are not present in state dict at path ./params")),
    ("keras-team/keras-io", "error-shapes",
     raised("ValueError: Arguments `target` and `output` must have the same shape. Received: target.shape=(None, 1),"
            " output.shape=(None, 10)")),
    ("opencv/opencv-python", "error-missing-file",
     raised("cv2.error: OpenCV(4.10.0) /io/opencv/modules/imgproc/src/color.cpp:196: error: (-215:Assertion failed)"
            " !_src.empty() in function 'cvtColor'")),
    ("huggingface/datasets-server", "error-dependency",
     raised("RuntimeError: Dataset scripts are no longer supported, but found speech.py")),
    ("Lightning-AI/litgpt", "error-config",
     raised("TypeError: '<=' not supported between instances of 'float' and 'str'")),
    ("timesler/facenet", "error-shapes",
     raised("ValueError: not enough values to unpack (expected 4, got 3)").replace("main()", "b, c, h, w = x.shape")),
    ("NVIDIA/open-gpu-kernel-modules", "error-gpu-hardware",
     "RuntimeError: CUDA error: unspecified launch failure\n"
     "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system"),
    ("verl-project/verl", "error-killed",
     "(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker exit type:"
     " SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. Some"
     " common causes include: (1) the process was killed by the OOM killer due to high memory usage, (2) ray stop"
     " --force was called, or (3) the worker crashed unexpectedly due to SIGSEGV or another unexpected error."),
]  # fmt: skip
