"""Errors of stacks for large models, as their users reported them; beside `reported_errors.py`, put together anew."""

from __future__ import annotations

PLAIN = 'Traceback (most recent call last):\n  File "/w/run.py", line 9, in <module>\n    main()\n'
ENGINE = "(EngineCore_DP0 pid=4411) ERROR 05-02 11:20:33 [core.py:718] "


def ranked(message: str, rank: int = 0) -> str:
    """The message behind a traceback each of whose lines names the rank."""
    return "\n".join(f"[rank{rank}]: {row}" for row in [*PLAIN.splitlines(), message])


def engine(message: str, after: str = "") -> str:
    """What an inference engine says in its own process, and what the trainer is told of it."""
    rows = ["EngineCore failed to start.", *PLAIN.splitlines(), message]
    told = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
    return "\n".join(ENGINE + row for row in rows) + "\n" + PLAIN + (after or told)


def chained(*messages: str) -> str:
    """Exceptions raised one from another."""
    between = "\n\nThe above exception was the direct cause of the following exception:\n\n"
    return between.join(PLAIN + message for message in messages)


# project, family, what the log ends with
REPORTED: list[tuple[str, str, str]] = [
    ("vllm-project/vllm", "error-device-memory",
     engine("ValueError: Free memory on device (17.1/23.6 GiB) on startup is less than desired GPU memory utilization"
            " (0.85, 20.06 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.")),
    ("QinYang79/ICL", "error-device-memory",
     "(VllmWorker rank=1 pid=77) ERROR 05-02 11:20:33 [multiproc_executor.py:511] ValueError: Free memory on device"
     " cuda:1 (9.9/79.1 GiB) on startup is less than desired GPU memory utilization (0.5, 39.6 GiB)."),
    ("verl-project/verl", "error-device-assert",
     chained("ray.exceptions.RayTaskError(RuntimeError): ray::WorkerDict.actor_rollout_generate_sequences() (pid=7)\n"
             "RuntimeError: CUDA error: device-side assert triggered")),
    ("verl-project/verl#sglang", "error-dependency",
     PLAIN + "ModuleNotFoundError: No module named 'vllm.lora'; 'vllm' is not a package"),
    ("verl-project/verl#async", "",
     PLAIN + "AttributeError: 'NoneType' object has no attribute 'result'"),
    ("pytorch/pytorch#fsdp2", "",
     ranked("RuntimeError: aten.embedding.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor"
            " to DTensor before calling distributed operators!", 1)),
    ("hiyouga/LlamaFactory", "error-dtype-mismatch",
     ranked("ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32", 2)),
    ("huggingface/peft", "error-dtype-mismatch",
     PLAIN + "ValueError: `FlatParameter` requires uniform dtype but got torch.float16 and torch.float32"),
    ("huggingface/alignment-handbook", "error-dtype-mismatch",
     PLAIN + "ValueError: Cannot flatten integer dtype tensors"),
    ("huggingface/peft#orig", "error-config",
     ranked("ValueError: Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`. Try using"
            " `use_orig_params=True`.")),
    ("huggingface/open-r1", "error-config",
     ranked("ValueError: The global train batch size (5 x 1) must be evenly divisible by the number of generations per"
            " prompt (8). Given the current train batch size, the valid values for it are: [5].")),
    ("Lightning-AI/pytorch-lightning", "error-config",
     PLAIN + "lightning.fabric.exceptions.MisconfigurationException: `ModelCheckpoint(monitor='dev/f1')` could"
     " not find the monitored key in the returned metrics: ['train/loss', 'epoch']. HINT: Did you call"
     " `log('dev/f1', value)` in the `LightningModule`?"),
    ("NVIDIA-NeMo/Speech", "error-checkpoint-keys",
     PLAIN + "RuntimeError: Error(s) in loading state_dict for EncDecRNNTBPEModel:\n\tsize mismatch for"
     " decoder.embed.weight: copying a param with shape torch.Size([1025, 640]) from checkpoint, the shape in current"
     " model is torch.Size([513, 640])."),
    ("ultralytics/yolov5", "error-missing-file",
     PLAIN + "AssertionError: Image Not Found ../birds/images/train/0412.jpeg"),
    ("WongKinYiu/yolov9", "error-missing-file",
     PLAIN + "AssertionError: train: No images found in /data/birds/labels/train.cache."),
    ("ultralytics/ultralytics", "error-missing-file",
     chained("FileNotFoundError: Dataset '/data/birds/data.yaml' images not found, missing path"
             " '/data/birds/valid/images'",
             "RuntimeError: Dataset '/data/birds/data.yaml' error: images not found")),
    ("huggingface/diffusers", "error-dtype-mismatch",
     PLAIN + "RuntimeError: Input type (float) and bias type (c10::Half) should be the same"),
    ("huggingface/diffusers#flux", "error-shapes",
     PLAIN + "RuntimeError: shape '[1, 4, 4, 16, 2, 2]' is invalid for input of size 32768"),
    ("kohya-ss/sd-scripts", "error-native-crash",
     PLAIN + "subprocess.CalledProcessError: Command '['python.exe', 'flux_train_network.py']' returned non-zero exit"
     " status 3221225477."),
    ("QwenLM/Qwen-VL", "",
     ranked("AssertionError: {'id': 853, 'status': 'NOT_AVAILABLE', 'numel': 0, 'ds_numel': 0, 'shape': (0,)}")),
    ("deepspeedai/DeepSpeed", "error-abort",
     "python: /tmp/csrc/aio/deepspeed_py_io_handle.cpp:219: int deepspeed_io_handle_t::wait(): Assertion"
     " `_num_pending_ops > 0' failed.\n[2026-05-02 11:20:33,101] [ERROR] [launch.py:325:sigkill_handler] exits with"
     " return code = -6"),
    ("huggingface/accelerate", "error-rendezvous",
     "[W socket.cpp:436] [c10d] The server socket has failed to bind to [::]:12211 (errno: 98 - Address already in"
     " use).\n[E socket.cpp:472] [c10d] The server socket has failed to listen on any local network address.\n"
     + PLAIN + "RuntimeError: The server socket has failed to listen on any local network address."),
    ("huggingface/nanotron", "error-collective",
     ranked("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/c10d/NCCLUtils.hpp:328, invalid"
            " usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.23.4\n[rank0]: ncclInvalidUsage: This"
            " usually reflects invalid usage of NCCL library.")),
    ("Lightning-AI/pytorch-lightning#slurm", "error-collective-timeout",
     "[rank3]:[E519 13:21:12.51 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout:"
     " WorkNCCL(SeqNum=1, OpType=BROADCAST, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800021 milliseconds"
     " before timing out."),
    ("keras-team/keras", "",
     PLAIN + "TypeError: jit() got an unexpected keyword argument 'donate_argnames'"),
    ("keras-team/keras#depth", "",
     PLAIN + "jax.errors.UnexpectedTracerError: Encountered an unexpected tracer. A function transformed by JAX had a"
     " side effect, allowing for a reference to an intermediate value to escape."),
    ("ray-project/ray", "error-device-memory",
     "(RayTrainWorker pid=242146) " + PLAIN.replace("\n", "\n(RayTrainWorker pid=242146) ")
     + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79.15 GiB\n"
     + PLAIN + "ray.train.v2.api.exceptions.WorkerGroupError: Training failed due to worker errors:\n[Rank 0]"),
    ("ray-project/ray#name", "",
     PLAIN + "ray.train.base_trainer.TrainingFailedError: The Ray Train run failed.\n\n"
     + chained("ray.exceptions.RayTaskError(NameError): ray::_Inner.train()\nNameError: name 'w' is not defined")),
    ("intelligent-machine-learning/dlrover", "error-checkpoint-keys",
     PLAIN.replace("run.py", "megatron/checkpointing.py").replace("main()", "iteration = state_dict['iteration']")
     + "KeyError: 'iteration'"),
    ("google-research/bert", "error-checkpoint-keys",
     PLAIN + "tensorflow.python.framework.errors_impl.InvalidArgumentError: Restoring from checkpoint failed. This is"
     " most likely due to a mismatch between the current graph and the one of the checkpoint. Assign requires shapes"
     " of both tensors to match. lhs shape= [3072] rhs shape= [4096]"),
    ("mlcommons/algorithmic-efficiency", "error-config-mismatch",
     PLAIN + "ValueError: The sharded dimension must be equal to the number of devices passed to PmapSharding. Got"
     " sharded dimension 0 with value 1 in shape (1, 128) and the number of devices=4"),
    ("catie-aq/flashT5", "error-cuda-environment",
     PLAIN + "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 151680, Hardware limit:"
     " 101376. Reducing block sizes or `num_stages` may help."),
    ("open-mmlab/mmdetection", "error-config",
     PLAIN + "KeyError: 'SwinHead is not in the mmdet::model registry. Please check whether the value of `SwinHead` is"
     " correct or it was registered as expected.'"),
    ("open-mmlab/mmdetection#type", "error-config",
     PLAIN + "KeyError: '`cfg` or `default_args` must contain the key \"type\", but got {\\'max_epochs\\': 24}'"),
    ("huggingface/datasets", "",
     chained("ValueError: Couldn't cast\nid: string\nanswer: list<item: string>\nto\n{'id': Value(dtype='string'),"
             " 'answer': Value(dtype='string')}\nbecause column names don't match",
             "datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset")),
    ("pytorch/pytorch#gcc", "error-cuda-environment",
     chained("subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpf/main.c', '-O3', '-lcuda']' returned"
             " non-zero exit status 1.",
             "torch._inductor.exc.InductorError: CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpf/main.c',"
             " '-O3', '-lcuda']' returned non-zero exit status 1.")),
    ("pytorch/pytorch#cpp", "error-cuda-environment",
     PLAIN + "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nCppCompileError: C++ compile error"),
    ("uiuc-arc/llm-code-watermark", "error-config-mismatch",
     PLAIN + "AssertionError: Loading a checkpoint for MP=8 but world size is 1"),
    ("facebookresearch/ParlAI", "error-collective",
     PLAIN + "RuntimeError: NCCL error in: /torch/lib/c10d/NCCLUtils.hpp:82, invalid argument, NCCL version 2.4.8\n"
     "srun: error: gpu-0-0: tasks 2-7: Exited with exit code 1"),
    ("pytorch/pytorch#cuda", "error-collective",
     ranked("torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:19, unhandled cuda error (run with"
            " NCCL_DEBUG=INFO for details), NCCL version 2.20.5\n[rank0]: ncclUnhandledCudaError: Call to CUDA function"
            " failed.")),
]  # fmt: skip
