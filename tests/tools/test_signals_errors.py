"""Families of errors: each fires on the message as it is printed, and stays silent on what merely resembles it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, log, losses
from traindx.detectors.errors.families import SIGNALS

ERRORS = "explain_error"
_FRAMES = 'Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 31, in <module>\n    main()\n'


def raised(message: str) -> dict[str, str]:
    """A run that logs three epochs and ends with this exception."""
    return log([*losses(3), _FRAMES + message])


def printed(*lines: str) -> dict[str, str]:
    """A run that logs three epochs and ends with these lines."""
    return log([*losses(3), *lines])


def survived(message: str) -> dict[str, str]:
    """The same exception, after which the run goes on."""
    lines = losses(30)
    return log([*lines[:10], _FRAMES + message, *lines[10:]])


# family, exceptions, lines without a traceback
MESSAGES: list[tuple[str, list[str], list[str]]] = [
    (
        "error-device-memory",
        [
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total)",
            "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1.50 GiB. GPU 0 has 64 GiB",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of"
            " 63.42 GiB of which 1.20 GiB is free. If reserved but unallocated memory is large try setting"
            " PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
            "RuntimeError: MPS backend out of memory (MPS allocated: 17.9 GB, max allowed: 18.13 GB).",
            "RuntimeError: CUDA error: out of memory",
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:",
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 4294967296 bytes.",
        ],
        ["RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB"],
    ),
    (
        "error-device-assert",
        [
            "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
            "RuntimeError: CUDA error: device-side assert triggered",
            "torch.AcceleratorError: CUDA error: device-side assert triggered",
        ],
        [
            "../aten/src/ATen/native/cuda/Indexing.cu:1237: indexSelectSmallIndex: block: [5,0,0], thread: [0,0,0]"
            " Assertion `srcIndex < srcSelectDimSize` failed."
        ],
    ),
    (
        "error-label-range",
        [
            "IndexError: Target 10 is out of bounds.",
            "tensorflow.python.framework.errors_impl.InvalidArgumentError: Received a label value"
            " of 10 which is outside"
            " the valid range of [0, 10).  Label values: 3 10 1",
        ],
        [
            "../aten/src/ATen/native/cuda/Loss.cu:242: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread:"
            " [4,0,0] Assertion `t >= 0 && t < n_classes` failed."
        ],
    ),
    (
        "error-input-not-finite",
        [
            "ValueError: Input X contains NaN.",
            "ValueError: Input contains infinity or a value too large for dtype('float32').",
            "AssertionError: found NaN in inputs at batch 41",
        ],
        ["ERROR: batch contains NaN in feature 3"],
    ),
    (
        "error-device-mismatch",
        [
            "ValueError: Must flatten tensors on the same device but got both cuda:0 and meta",
            "RuntimeError: Expected all tensors to be on the same device, but found at least two"
            " devices, cuda:0 and cpu!",
            "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same",
            "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.",
        ],
        [],
    ),
    (
        "error-dtype-mismatch",
        [
            "TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.",
            "RuntimeError: expected scalar type Float but found Half",
            "RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::Half",
            "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and BFloat16",
            "RuntimeError: Found dtype Double but expected Float",
            "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'",
            "RuntimeError: Expected object of scalar type Float but got scalar type Double for argument #1 'mat1'",
            "TypeError: Input 'b' of 'MatMul' Op has type float64 that does not match type float32 of argument 'a'.",
        ],
        [],
    ),
    (
        "error-scaler-misused",
        [
            "ValueError: Attempting to unscale FP16 gradients.",
            "AssertionError: No inf checks were recorded for this optimizer.",
            "RuntimeError: unscale_() has already been called on this optimizer since the last update().",
        ],
        [],
    ),
    (
        "error-scheduler-steps",
        [
            "ValueError: Tried to step 90 times. The total number of steps is 80",
            "RuntimeError: this scheduler was stepped 90 times and holds 80 rates",
        ],
        [],
    ),
    (
        "error-not-finite",
        [
            "ValueError: The loss returned in `training_step` is nan.",
            "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
            "FloatingPointError: invalid value (nan) encountered in jit(update)",
            "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
            "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\nDetected at node"
            " 'CheckNumerics'\nTensor had NaN values",
        ],
        [],
    ),
    (
        "error-evicted",
        [],
        [
            "Reason:         Evicted",
            "Warning  Evicted  14m  kubelet  Usage of EmptyDir volume exceeds the limit",
            "004 (1234.000.000) 2024-05-01 10:12:11 Job was evicted.",
        ],
    ),
    (
        "error-shapes",
        [
            "ValueError: X has 10 features, but LogisticRegression is expecting 12 features as input.",
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x784 and 512x10)",
            "RuntimeError: stack expects each tensor to be equal size, but got [3, 32, 32] at entry 0 and [1, 32, 32]",
            'ValueError: Input 0 of layer "dense" is incompatible with the layer: expected axis -1 of input shape to'
            " have value 784, but received input with shape (32, 28)",
            "TypeError: dot_general requires contracting dimensions to have the same shape, got (10,) and (12,).",
        ],
        [],
    ),
    (
        "error-module-system",
        [],
        [
            "Lmod has detected the following error: The following module(s) are unknown:",
            "ERROR: Unable to locate a modulefile for 'cuda/11.8'",
            "/var/spool/job.sh: line 4: conda: command not found",
        ],
    ),
    (
        "error-embedding-index",
        [
            "IndexError: index out of range in self",
            "tensorflow.python.framework.errors_impl.InvalidArgumentError: indices[0,3] = 30522 is not in [0, 30522)",
        ],
        [],
    ),
    (
        "error-state-shape",
        [
            "RuntimeError: Expected hidden[0] size (2, 64, 128), got [1, 64, 128]",
            "RuntimeError: For batched 3-D input, hx and cx should also be 3-D but got (2-D, 2-D) tensors",
        ],
        [],
    ),
    (
        "error-in-place",
        [
            "RuntimeError: one of the variables needed for gradient computation has been modified"
            " by an inplace operation:"
            " [torch.FloatTensor [64, 128]], which is output 0 of AddBackward0, is at version 3;"
            " expected version 2 instead.",
            "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
        ],
        [],
    ),
    (
        "error-no-grad",
        [
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
            "ValueError: No gradients provided for any variable: ['dense/kernel:0'].",
        ],
        [],
    ),
    (
        "error-unused-parameters",
        [
            "RuntimeError: Expected to have finished reduction in the prior iteration before"
            " starting a new one. This error"
            " indicates that your module has parameters that were not used in producing loss.",
        ],
        [],
    ),
    (
        "error-batchnorm",
        ["ValueError: Expected more than 1 value per channel when training, got input size torch.Size([1, 256, 1, 1])"],
        [],
    ),
    (
        "error-cuda-environment",
        [
            "RuntimeError: Expected is_sm80 || is_sm90 to be true, but got false.",
            "RuntimeError: CUDA error: peer access is not supported between these two devices",
            "lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!",
            "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx(handle, opa, opb, m, n)`",
            "jaxlib._jax.XlaRuntimeError: INTERNAL: the library was not initialized",
            "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "ImportError: /opt/x/flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE",
            "AssertionError: Torch not compiled with CUDA enabled",
            "ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory",
        ],
        [],
    ),
    (
        "error-collective-timeout",
        [
            "torch.distributed.DistBackendError: [Rank 2] Watchdog caught collective operation"
            " timeout: WorkNCCL(SeqNum=9)"
        ],
        [
            "[rank0]:[E1102 03:04:05.118803331 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation"
            " timeout: WorkNCCL(SeqNum=912, OpType=ALLREDUCE, NumelIn=65, NumelOut=65, Timeout(ms)=600000) ran for"
            " 600029 milliseconds before timing out."
        ],
    ),
    (
        "error-collective",
        [
            "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:317, unhandled system"
            " error, NCCL version 2.20"
        ],
        ["node1:77:90 [0] misc/socket.cc:538 NCCL WARN Call to connect returned Connection timed out"],
    ),
    (
        "error-rank-divergence",
        [
            "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective:"
            " CollectiveFingerPrint(SequenceNumber=2, OpType=ALLREDUCE, TensorShape=[4, 16])",
            "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 62 params, while rank 1 has"
            " inconsistent 60 params.",
        ],
        [],
    ),
    (
        "error-rendezvous",
        [
            "RuntimeError: Socket Timeout",
            "AssertionError: Default process group is not initialized",
            "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address."
            " port: 29500, useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use",
            "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
            "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable MASTER_ADDR"
            " expected, but not set",
        ],
        [],
    ),
    (
        "error-loader-worker",
        [
            "RuntimeError: One or more background workers are no longer alive. Exiting.",
            "RuntimeError: DataLoader worker (pid(s) 2231, 2232) exited unexpectedly",
            "RuntimeError: DataLoader worker (pid 2231) is killed by signal: Segmentation fault. ",
        ],
        [],
    ),
    (
        "error-shared-memory",
        [
            "RuntimeError: unable to write to file </torch_1_2_3>: No space left on device (28)",
            "RuntimeError: DataLoader worker (pid 9) is killed by signal: Bus error. It is possible that dataloader's"
            " workers are out of shared memory. Please try to raise your shared memory limit.",
        ],
        [
            "ERROR: Unexpected bus error encountered in worker. This might be caused by"
            " insufficient shared memory (shm)."
        ],
    ),
    (
        "error-host-memory",
        [
            "ray.exceptions.ObjectStoreFullError: Failed to put object ff in object store because it is full.",
            "MemoryError",
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 37.3 GiB for an array"
            " with shape (100000, 50000)",
            "RuntimeError: [enforce fail at alloc_cpu.cpp:75] DefaultCPUAllocator: can't allocate memory: you tried to"
            " allocate 8589934592 bytes. Error code 12 (Cannot allocate memory)",
            "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        ],
        [
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0. Some of the step tasks"
            " have been OOM Killed.",
            "[511.2] Out of memory: Killed process 4711 (python) total-vm:88kB, anon-rss:77kB",
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "srun: error: node7: task 0: Out Of Memory",
            "=>> PBS: job killed: mem 67110912kb exceeded limit 67108864kb",
            "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
        ],
    ),
    (
        "error-killed",
        ["subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>."],
        [
            "Killed",
            "/var/spool/slurmd/job7/slurm_script: line 4: 2625851 Killed                  python train.py",
            "Process finished with exit code 137",
        ],
    ),
    (
        "error-native-crash",
        ["subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGSEGV: 11>."],
        [
            "Segmentation fault (core dumped)",
            "Fatal Python error: Segmentation fault",
            "double free or corruption (!prev)",
            "Process finished with exit code 139",
        ],
    ),
    (
        "error-abort",
        [],
        ["terminate called after throwing an instance of 'c10::Error'", "Aborted (core dumped)"],
    ),
    (
        "error-gpu-hardware",
        ["RuntimeError: CUDA error: uncorrectable ECC error encountered"],
        [
            "[Sat Mar  1 03:04:05 2025] NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus.",
            "Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error",
            "[  +0.000844] nvidia 0000:03:00.0: AER: can't recover (no error_detected callback)",
            "kernel: amdgpu 0000:c1:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
            "Jan  2 10:00:01 cn7 kernel: nvidia 0000:41:00.0: AER: device recovery failed",
            "xe 0000:03:00.0: device lost from bus!",
        ],
    ),
    (
        "error-time-limit",
        [],
        [
            "slurmstepd: error: *** JOB 42221 ON clr12 CANCELLED AT 2022-04-14T16:20:46 DUE TO TIME LIMIT ***",
            "=>> PBS: job killed: walltime 86415 exceeded limit 86400",
            "05/01/2024 10:12:11|worker|node3|W|job 47.1 exceeded hard wallclock time - initiate terminate method",
        ],
    ),
    (
        "error-preempted",
        [],
        [
            "slurmstepd: error: *** STEP 42.0 ON clr12 CANCELLED AT 2022-04-14T16:20:46 DUE TO PREEMPTION ***",
            "slurmstepd: error: *** JOB 42 ON clr12 CANCELLED AT 2022-04-14T16:20:46 DUE TO NODE FAILURE ***",
        ],
    ),
    (
        "error-interrupted",
        [
            "KeyboardInterrupt",
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 15",
        ],
        ["slurmstepd: error: *** JOB 42221 ON clr12 CANCELLED AT 2022-04-14T16:20:46 ***"],
    ),
    (
        "error-disk-full",
        [
            "OSError: [Errno 28] No space left on device: '/data/ckpt/last.pt'",
            "OSError: [Errno 122] Disk quota exceeded",
            "RuntimeError: [enforce fail at inline_container.cc:595] . unexpected pos 1024 vs 512",
        ],
        ["cp: error writing 'x.pt': No space left on device"],
    ),
    (
        "error-missing-file",
        [
            "ValueError: Asked to retrieve element 0, but the Sequence has length 0",
            "OSError: ./ckpt does not appear to have a file named model-00002-of-00003.safetensors.",
            "OSError: Incorrect path_or_model_id: './out/checkpoint-best'. Please provide the path.",
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'",
            "ValueError: num_samples should be a positive integer value, but got num_samples=0",
        ],
        [],
    ),
    (
        "error-permission",
        [
            "PermissionError: [Errno 13] Permission denied: '/data/shared/cache'",
            "OSError: [Errno 30] Read-only file system: '/home/u/out'",
        ],
        ["bash: ./run.sh: Permission denied"],
    ),
    (
        "error-checkpoint-keys",
        [
            "RuntimeError: Error(s) in loading state_dict for Net:",
            "ValueError: You are trying to restore a checkpoint from a legacy Keras optimizer into a v2.11+ Optimizer.",
            "ValueError: loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
        ],
        [],
    ),
    (
        "error-checkpoint-corrupt",
        [
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
            "EOFError: Ran out of input",
            "_pickle.UnpicklingError: invalid load key, 'v'.",
            "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        ],
        [],
    ),
    (
        "error-checkpoint-unsafe",
        [
            "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to"
            " do so you have two options"
        ],
        [],
    ),
    (
        "error-config",
        [
            "ValueError: Cannot use chat template functions because tokenizer.chat_template is not set",
            "xgboost.core.XGBoostError: value 0 for Parameter num_class should be greater equal to 1",
            "ValueError: You can't train a model that has been loaded with `device_map='auto'` in distributed mode.",
            "RuntimeError: Early stopping conditioned on metric `val_loss` which is not available.",
            "ValueError: `.to` is not supported for `4-bit` or `8-bit` bitsandbytes models.",
            "ValueError: `FlatParameter` requires uniform `requires_grad`",
            "mlflow.exceptions.RestException: INVALID_PARAMETER_VALUE: Key lr was already logged with a value of 3.",
            "TypeError: Trainer.__init__() got an unexpected keyword argument 'gpus'",
            "omegaconf.errors.MissingMandatoryValue: Missing mandatory value: data.root",
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for TrainConfig",
            "ValueError: Invalid learning rate: -0.1",
            "yaml.scanner.ScannerError: mapping values are not allowed here",
        ],
        ["train.py: error: unrecognized arguments: --learning-rate 0.1", "Could not override 'optim.lrr'."],
    ),
    (
        "error-config-mismatch",
        [
            "AssertionError: The `num_classes` (80) in Head of DDP does not matches the length of `CLASSES` 3) in Coco",
            "ValueError: feature_names mismatch: ['a', 'b', 'c'] ['a', 'b']",
            "AssertionError: num_layers value from checkpoint (24) is not equal to the input argument value (32).",
            "deepspeed.runtime.zero.utils.ZeRORuntimeException: The checkpoint being loaded used a DP world size of 8"
            " but the current world size is 4.",
        ],
        [],
    ),
    (
        "error-dependency",
        [
            "OSError: [WinError 126] The specified module could not be found.",
            "RuntimeError: jaxlib version 0.4.38 is newer than and incompatible with jax version 0.4.26.",
            "RuntimeError: jaxlib is version 0.3.25, but this version of jax requires version >= 0.4.19.",
            "AttributeError: `np.NaN` was removed in the NumPy 2.0 release. Use `np.nan` instead.",
            "RuntimeError: Numpy is not available",
            "ModuleNotFoundError: No module named 'flash_attn'",
            "ImportError: cannot import name 'AdamW' from 'transformers' (/opt/x/transformers/__init__.py)",
            "AttributeError: module 'numpy' has no attribute 'bool'.",
        ],
        ["python: /lib/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by /opt/x/y.so)"],
    ),
    (
        "error-authentication",
        [
            "wandb.errors.CommError: You do not have permission to access the requested resource.",
            "huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-67)",
            "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/x",
            "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
        ],
        [],
    ),
    (
        "error-download",
        [
            "RuntimeError: Index file /tmp/x/index.json took too long to download, bailing out.",
            "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint",
            "OSError: We couldn't connect to 'https://huggingface.co' to load this file",
            "OSError: Can't load tokenizer for 'org/model'. If you were trying to load it from the Hub, check the name",
            "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co',"
            " port=443): Max retries exceeded",
            "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
        ],
        [],
    ),
]

FIRES: list[Case] = [
    case(ERRORS, f"{family} {number}", files, f"{family} run-ended-by-error", "error-unexplained error-survived")
    for family, exceptions, lines in MESSAGES
    for number, files in enumerate([*map(raised, exceptions), *map(printed, lines)])
]

# What was raised in the middle of a run that went on names nothing.
SURVIVED: list[Case] = [
    case(
        ERRORS,
        f"{family} survived",
        survived((exceptions + lines)[0]),
        "error-survived",
        f"{family} run-ended-by-error",
    )
    for family, exceptions, lines in MESSAGES
]

_CHAIN = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
_SUMMARY = """\
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 7)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-03-01_01:44:02
  host      : gpu09
  rank      : 1 (local_rank: 1)
  exitcode  : {code} (pid: 8)
  error_file: <N/A>
============================================================"""

_SLURM = "slurmstepd: error: *** STEP 771200.0 ON g CANCELLED AT 2025-03-02T04:11:09 DUE TO {} ***"
ORDER: list[Case] = [
    case(ERRORS, "the first of a chain",
         raised("FileNotFoundError: [Errno 2] No such file or directory: 'a.bin'" + _CHAIN + _FRAMES
                + "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB"),
         "error-missing-file", "error-device-memory error-unexplained"),
    case(ERRORS, "a known exception behind an unknown one",
         raised("KeyError: 'x'" + _CHAIN + _FRAMES + "FileNotFoundError: [Errno 2] No such file or directory: 'a.bin'"),
         "error-missing-file", "error-unexplained"),
    case(ERRORS, "a loader's wrapper",
         raised("RuntimeError: Caught FileNotFoundError in DataLoader worker process 0.\nOriginal " + _FRAMES
                + "PermissionError: [Errno 13] Permission denied: 'a.bin'"),
         "error-permission", "error-missing-file"),
    case(ERRORS, "an assertion before the error it causes",
         printed("Loss.cu:242: nll_loss: block: [0,0,0] Assertion `t >= 0 && t < n_classes` failed.",
                 _FRAMES + "RuntimeError: CUDA error: device-side assert triggered"),
         "error-label-range", "error-device-assert"),
    case(ERRORS, "a worker that the kernel killed",
         printed(_FRAMES + "RuntimeError: DataLoader worker (pid 12) is killed by signal: Killed.",
                 "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0."),
         "error-host-memory", "error-loader-worker"),
    case(ERRORS, "the scheduler cleans up after an exception",
         printed(_FRAMES + "ModuleNotFoundError: No module named 'einops'",
                 "srun: error: gpu09: task 1: Exited with exit code 1",
                 "slurmstepd: error: *** STEP 7.0 ON gpu09 CANCELLED AT 2025-03-01T01:44:02 ***"),
         "error-dependency", "error-interrupted error-at-the-end"),
    case(ERRORS, "one rank of many files",
         {"rank_0.log": _FRAMES + "RuntimeError: NCCL communicator was aborted on rank 0.\n",
          "rank_1.log": _FRAMES + "ValueError: no samples in this shard\n",
          "rank_2.log": _FRAMES + "RuntimeError: [x/pair.cc:553] Connection closed by peer [127.0.0.1]:30886.\n"},
         "error-unexplained", "error-collective error-collective-timeout"),
    case(ERRORS, "the rank that the launcher blames",
         {"rank_0.log": _FRAMES + "FileNotFoundError: [Errno 2] No such file or directory: 'x.lock'\n",
          "rank_1.log": _FRAMES + "torch.cuda.OutOfMemoryError: CUDA out of memory.\n",
          "launcher.log": _FRAMES + _SUMMARY.format(code=1) + "\n"},
         "error-device-memory", "error-missing-file"),
    case(ERRORS, "a rank that fell without a word",
         {"rank_0.log": _FRAMES + "RuntimeError: [x/pair.cc:553] Connection reset by peer\n",
          "launcher.log": _FRAMES + _SUMMARY.format(code=-11) + "\n"},
         "error-native-crash", "error-unexplained"),
    case(ERRORS, "the watchdog's report before its abort",
         printed("[rank0]:[E1102 03:04:05.1 ProcessGroupNCCL.cpp:616] Watchdog caught collective operation timeout",
                 "terminate called after throwing an instance of 'c10::DistBackendError'", "Aborted (core dumped)"),
         "error-collective-timeout", "error-abort"),
    case(ERRORS, "the same error first survived, then not",
         log([*losses(30)[:10], _FRAMES + "RuntimeError: CUDA out of memory.", *losses(30)[10:],
              _FRAMES + "RuntimeError: CUDA out of memory."]),
         "error-device-memory run-ended-by-error", "error-survived"),
    case(ERRORS, "a bar that closes after the error is no survival",
         log([*losses(9), _FRAMES + "ValueError: bad sample", losses(9)[-1]]), "error-unexplained", "error-survived"),
    case(ERRORS, "a job that was requeued",
         {"slurm-771200.out": "\n".join(f"upd={n} mse={9 - n / 200}" for n in range(0, 1500, 20))
          + "\nslurmstepd: error: *** STEP 771200.0 ON g CANCELLED AT 2025-03-02T04:11:09 DUE TO PREEMPTION ***\n",
          "slurm-771203.out": "\n".join(f"upd={n} mse={9 - n / 400}" for n in range(1200, 3000, 20)) + "\n"},
         "error-survived", "error-preempted"),
    case(ERRORS, "steps that were logged before the scheduler's signal was obeyed",
         log([*losses(30), _SLURM.format("TIME LIMIT"), "[rank: 0] Received SIGTERM: 15", *losses(33)[30:],
              "srun: error: g: task 0: Killed"]),
         "error-time-limit active-when-ended", "error-preempted"),
    case(ERRORS, "a preempted run that finished its epoch",
         log([*losses(30), _SLURM.format("PREEMPTION"), *losses(34)[30:]]), "error-preempted active-when-ended"),
    case(ERRORS, "nothing after the limit", log([*losses(30), _SLURM.format("TIME LIMIT")]), "error-time-limit",
         "active-when-ended"),
    case(ERRORS, "a job step that was over its time, and a run that went on",
         log([*losses(10), _SLURM.format("TIME LIMIT"), *losses(60)[10:]]), "error-survived", "error-time-limit"),
    case(ERRORS, "the bus of something else",
         printed("mlx5_core 0000:81:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
                 "pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0",
                 "nvidia 0000:03:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)"),
         silent="error-gpu-hardware error-unexplained"),
    case(ERRORS, "a line that says it retries",
         printed("2025-03-01 01:02:03 ERROR requests.exceptions.ConnectionError: HTTPSConnectionPool, retrying in 5 s"),
         "error-survived", "error-download"),
    case(ERRORS, "nothing but the launcher's words",
         printed("srun: error: gpu09: task 1: Exited with exit code 1"), "error-at-the-end", "error-unexplained"),
    case(ERRORS, "advice",
         printed("[ERROR] For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
                 "[ERROR] Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."),
         silent="error-device-assert error-at-the-end run-ended-by-error"),
    case(ERRORS, "words in data and metrics",
         log([f"epoch {n} loss 0.5 oom_kill 0 nccl_timeout 0 Killed 3 cuda_errors 0 exit_code 137" for n in range(9)]
             + ["INFO CUDA out of memory guard enabled", "--- sample at step 9 ---", "Segmentation fault (core dumped)",
                "--- end of sample ---", "epoch 10 loss 0.4"]),
         silent=" ".join(name for name in SIGNALS if name.startswith("error-"))),
]  # fmt: skip
CASES = [*FIRES, *SURVIVED, *ORDER]


@pytest.mark.parametrize("found", CASES, ids=[found.name for found in CASES])
def test_errors_are_named_by_their_family(tmp_path: Path, found: Case) -> None:
    check(found, tmp_path)


def test_every_family_that_can_name_a_cause_has_its_messages() -> None:
    named = {family for family, _, _ in MESSAGES}
    assert {name for name in SIGNALS if name.startswith("error-")} - named == {
        "error-unexplained", "error-survived", "error-at-the-end", "error-loss-scale", "error-state-graph",
        "error-not-scheduled", "error-image", "error-install", "error-network",  # in test_signals_refusals.py
    }  # fmt: skip
