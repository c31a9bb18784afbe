"""What never began, what the further lines of a message say, and which of several errors brought the others about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, log, losses

ERRORS = "explain_error"
_FRAMES = 'Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 31, in <module>\n    main()\n'
_NCCL = "torch.distributed.DistBackendError: NCCL error in: /pytorch/ProcessGroupNCCL.cpp:1727, {}, NCCL version 2.19.3"
_PEER = "remote process exited or there was a network error"


def alone(*lines: str) -> dict[str, str]:
    """A log that holds these lines and no value."""
    return log(["starting", *lines])


def before(*lines: str) -> dict[str, str]:
    """The same lines before a run that goes through."""
    return log([*lines, *losses(30)])


# family, what was printed instead of a run
NEVER_BEGAN: list[tuple[str, list[str]]] = [
    (
        "error-not-scheduled",
        [
            "  Warning  FailedScheduling  6m (x244)  default-scheduler  0/4 nodes are available: 4 Insufficient"
            " nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found.",
            "  Warning  FailedScheduling  <unknown>  default-scheduler  0/41 nodes are available: 35 Insufficient cpu",
            '  Warning  FailedMount  12s (x8)  kubelet  MountVolume.SetUp failed for volume "data" : claim not found',
            "srun: error: Unable to create step for job 29986033: Memory required by task is not available",
            "srun: error: Unable to allocate resources: Invalid account or account/partition combination specified",
            "There are not enough slots available in the system to satisfy the 8",
            "Error: No available node types can fulfill resource request {'GPU': 8.0, 'CPU': 1.0}. Add node types.",
            _FRAMES + "ValueError: Total available GPUs 4 is less than total desired GPUs 8",
        ],
    ),
    ("error-module-system", ["/var/spool/slurmd/job9/script: line 3: module: command not found"]),
    (
        "error-image",
        [
            '  Warning  Failed  30s (x4)  kubelet  Failed to pull image "reg.example.org/train:v7": not found',
            "train-0   0/1     ImagePullBackOff   0          4m",
        ],
    ),
    (
        "error-install",
        [
            "ERROR: Cannot install -r requirements.txt (line 3) and torch==2.1.0 because these package versions have"
            " conflicting dependencies.",
            "  ERROR: Failed building wheel for flash-attn",
            "ERROR: No matching distribution found for torch==2.9.9",
            "LibMambaUnsatisfiableError: Encountered problems while solving:",
            "  x No solution found when resolving dependencies:",
        ],
    ),
]
# family, how a platform tells of the end of a process
ENDS: list[tuple[str, list[str]]] = [
    (
        "error-killed",
        [
            "Execution failed. User process '/azureml-envs/pt/bin/python' exited with status code 137.",
            "3f1c2d         train:v7   Exited (137) 2 minutes ago",
            "      Exit Code:    137",
            "trainer-worker-0 container pytorch exited with code 137",
            "ExitCode 137",
        ],
    ),
    ("error-native-crash", ["trainer-worker-0 container pytorch exited with code 139", "Exit status: 139"]),
    (
        "error-host-memory",
        [
            "Your notebook tried to allocate more memory than is available. It has restarted.",
            'sending SIGTERM to process 41233 uid 1000 "python": badness 1204, VmRSS 51234 MiB',
        ],
    ),
    ("error-time-limit", ["State: TIMEOUT (exit code 0)"]),
    (
        "error-interrupted",
        ["W0501 10:11:12.123 torch/distributed/elastic/api.py:704] Received 15 death signal, shutting down workers"],
    ),
]
WELL = [
    "3f1c2d         train:v7   Exited (0) 2 minutes ago",
    "trainer-worker-0 container pytorch exited with code 0",
    "State: COMPLETED (exit code 0)",
    "early exit 137 of 4000 samples",
    "earlyoom v1.6: sending SIGTERM when mem <= 10.00%",
]
CASES: list[Case] = [
    *(
        case(ERRORS, f"{family} {number} as a platform says", log([*losses(9), line]), family, "error-survived")
        for family, lines in ENDS
        for number, line in enumerate(lines)
    ),
    *(
        case(ERRORS, f"a good end {number}", log([*losses(9), line]),
             silent="error-killed error-native-crash error-host-memory error-time-limit error-at-the-end")
        for number, line in enumerate(WELL)
    ),
    *(
        case(ERRORS, f"{family} {number}", alone(line), family, "error-survived")
        for family, lines in NEVER_BEGAN
        for number, line in enumerate(lines)
    ),
    *(
        case(ERRORS, f"{family} {number}, and the run began", before(line), silent=f"{family} error-at-the-end")
        for family, lines in NEVER_BEGAN
        for number, line in enumerate(lines)
    ),
    case(ERRORS, "events of a pod that waited, ran and was killed",
         alone("  Warning  FailedScheduling  16h  default-scheduler  0/4 nodes are available: 4 Insufficient cpu.",
               "  Normal   Scheduled  15h  default-scheduler  Successfully assigned ml/train-0 to node-3",
               "    Last State:     Terminated", "      Reason:       OOMKilled"),
         "error-host-memory", "error-not-scheduled"),
    case(ERRORS, "a resolver's complaint about what is installed all the same",
         before("ERROR: pip's dependency resolver does not currently take into account all the packages.",
                "torchaudio 2.1.0 requires torch==2.1.0, but you have torch 2.4.1 which is incompatible."),
         silent="error-install error-dependency error-at-the-end"),
    case(ERRORS, "two ranks on one GPU",
         alone(_FRAMES + _NCCL.format("invalid usage") + "\nncclInvalidUsage: This usually reflects invalid usage.\n"
               "Last error:\nDuplicate GPU detected : rank 3 and rank 0 both on CUDA device f000"),
         "error-config", "error-collective"),
    case(ERRORS, "no room for a segment",
         alone(_FRAMES + _NCCL.format("unhandled system error") + "\nncclSystemError: a call failed.\nLast error:\n"
               "Error while creating shared memory segment /dev/shm/nccl-9jhTi8 (size 9637888)"),
         "error-shared-memory", "error-collective"),
    case(ERRORS, "a network that gave up",
         alone(_FRAMES + _NCCL.format(_PEER) + "\nncclRemoteError: A call"
               " failed possibly due to a network error.\nLast error:\n"
               "NET/IB : Got completion from peer 10.4.2.1<48332> with status=12 opcode=0 len=0 vendor err 129"),
         "error-network"),
    case(ERRORS, "a peer that was gone, and no more said",
         alone(_FRAMES + _NCCL.format(_PEER) + "\nncclRemoteError: A call"
               " failed possibly due to a network error or a remote process exiting prematurely."),
         silent="error-network error-collective"),
    case(ERRORS, "a further line of a message that has a family",
         alone(_FRAMES + "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\nNo such file or directory"),
         "error-device-memory", "error-missing-file"),
    case(ERRORS, "a full disk in one log, and what it cut off in another",
         {"first.log": "\n".join([*losses(9), "tee: first.log: No space left on device"]) + "\n",
          "again.log": _FRAMES + "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central"
          " directory\n"},
         "error-disk-full", "error-checkpoint-corrupt"),
    case(ERRORS, "a file that was cut off by nothing that is known",
         {"first.log": "\n".join(losses(9)) + "\n",
          "again.log": _FRAMES + "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central"
          " directory\n"},
         "error-checkpoint-corrupt", "error-disk-full"),
    case(ERRORS, "a service that tells of its container's end",
         log([*losses(9), "AlgorithmError: ExecuteUserScriptError:", "ExitCode 137", 'ErrorMessage ""']),
         "error-killed", "error-unexplained"),
    case(ERRORS, "the same, ended by an exception of the program",
         log([*losses(9), _FRAMES + "KeyError: 'pixels'", "AlgorithmError: ExecuteUserScriptError:", "ExitCode 1"]),
         "error-unexplained", "error-killed"),
    case(ERRORS, "a library that is loaded and one that is wanted",
         alone("2022-05-05 10:33:01: E tensorflow/stream_executor/cuda/cuda_dnn.cc:361] Loaded runtime CuDNN library:"
               " 8.0.4 but source was compiled with: 8.1.0.",
               _FRAMES + "tensorflow.python.framework.errors_impl.UnimplementedError: Graph execution error:\n\n"
               "Detected at node 'conv1/Conv2D' defined at (most recent call last):\n  (0) UNIMPLEMENTED:  DNN library"
               " is not found."),
         "error-cuda-environment", "error-unexplained"),
    case(ERRORS, "what TensorFlow prints as it starts",
         before("2024-05-05 10:33:01: E external/xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register"
                " cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
                "2024-05-05 10:33:02: I external/xla/stream_executor/cuda/cuda_dnn.cc:465] Loaded cuDNN version 8902"),
         silent="error-cuda-environment error-at-the-end run-ended-by-error"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=[found.name for found in CASES])
def test_what_never_began_and_what_came_first(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
