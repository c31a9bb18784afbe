"""Errors in text without its form, what such text merely resembles, and short pastes that still say something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, log, losses
from traindx.detectors.errors.families import SIGNALS

ERRORS, METRICS, GRADIENTS, PACE, DATA = (
    "explain_error", "compare_metrics", "check_gradients", "check_throughput", "inspect_data"
)  # fmt: skip
NO_ERROR = " ".join(name for name in SIGNALS if name.startswith("error-")) + " run-ended-by-error"


def pasted(*lines: str) -> dict[str, str]:
    """A log of nothing but these lines."""
    return {"out.log": "\n".join(lines) + "\n"}


UNUSED = "Expected to have finished reduction in the prior iteration before starting a new one."
GATED = "Access to model acme/llm-7b is restricted. You must have access to it and be authenticated to access it."
READ: list[Case] = [
    case(ERRORS, "indented, with the explanation behind it",
         pasted("   OSError: You are trying to access a gated repo.", f"   {GATED} Please log in."),
         "error-authentication", "error-unexplained"),
    case(ERRORS, "two processes in one line",
         pasted('    out = net(x)  File "seg.py", line 31, in fit', "RuntimeErrorout = net(x)", ": ", UNUSED),
         "error-unused-parameters"),
    case(ERRORS, "the error first, other text behind it",
         pasted("no kernel image is available for execution on the device", "error", "Progress", "Step 0 of 200"),
         "error-cuda-environment"),
    case(ERRORS, "a sentence broken over two lines",
         pasted("worker 3: the loss scale is already", "at minimum, cannot go on. Exiting"), "error-loss-scale"),
    case(ERRORS, "a port that is taken, as a warning of the library",
         pasted("Start training", "[W socket.cpp:401] [c10d] The server socket has failed to bind to [::]:29511"
                " (errno: 98 - Address already in use)."), "error-rendezvous"),
    case(ERRORS, "a warning whose text begins in the next line",
         pasted("/env/torch/cuda/__init__.py:287: UserWarning: ",
                "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch"
                " installation."), "warning-device-build"),
    case(ERRORS, "memory that is nearly used up when the text ends",
         pasted("training_iteration: 90", "Memory usage on this node: 30.9/31.2 GiB: ***LOW MEMORY*** less than 10% of"
                " the memory on this node is available for use."), "warning-host-memory"),
    case(ERRORS, "a job of submitit that is taken away",
         pasted("submitit WARNING (2025-02-03 04:05:06,789) - Caught signal SIGUSR2 on node7: this job is preempted."),
         "error-preempted"),
    case(ERRORS, "a checkpoint that cannot be written",
         log([*losses(3), "Traceback (most recent call last):", '  File "fit.py", line 9, in <module>', "    save()",
              "RuntimeError: File runs/a/last.pt cannot be opened."]), "error-missing-file"),
    case(ERRORS, "a summary without a curve",
         pasted("wandb: Run summary:", "wandb:      lr 0.0", "wandb:    loss nan"), "loss-stated-non-finite"),
]  # fmt: skip
SILENT: list[Case] = [
    case(ERRORS, "values go on", log([*losses(9)[:4], f"   {UNUSED}", *losses(9)[4:]]), silent=NO_ERROR),
    case(ERRORS, "the run says that it is done",
         log([*losses(9), "   No space left for the error message", "Training finished."]), silent=NO_ERROR),
    case(ERRORS, "advice and conditions",
         pasted("If you see that no kernel image is available for execution on the device, rebuild.",
                "This can fix errors like: the client socket has timed out",
                "set it to avoid: No CUDA GPUs are available",
                "Tip: Address already in use means that another job runs"), silent=NO_ERROR),
    case(ERRORS, "memory that is half used", pasted("Memory usage on this node: 14.9/31.2 GiB", "system memory 48%"),
         silent="warning-host-memory"),
    case(ERRORS, "memory that was nearly used up while the run went on",
         log([*losses(9)[:4], "Memory usage on this node: 30.9/31.2 GiB: ***LOW MEMORY*** less than 10%",
              *losses(9)[4:]]), silent="warning-host-memory"),
    case(ERRORS, "data, dialogue and samples",
         pasted("text: RuntimeError: No CUDA GPUs are available, what now", '{"prompt": "No CUDA GPUs are available"}',
                "User: I got an error: No CUDA GPUs are available", "> failed: No CUDA GPUs are available",
                "=== generated sample ===", "error No CUDA GPUs are available", "======"), silent=NO_ERROR),
    case(ERRORS, "information, retries and counts",
         pasted("2025-01-02 03:04:05 INFO error log: No space left on device is handled",
                "  401 Client Error, retrying in 5 s", "  0 errors, no failures; 401 Client Error count 0",
                "   falling back to CPU: No CUDA GPUs are available"), silent=NO_ERROR),
    case(ERRORS, "information of Google's loggers",
         pasted("2025-01-02 03:04:05.678901: I tensorflow/compiler/x/dso_loader.cc:60] Could not load dynamic library"
                " 'libcudart.so.11.0'; failed"), silent=NO_ERROR),
    case(ERRORS, "a traceback that the interpreter ignores",
         log([*losses(9), "Exception ignored in: <function Worker.__del__ at 0x7f>",
              "Traceback (most recent call last):", '  File "/x/w.py", line 3, in __del__', "    self.close()",
              "OSError: closing failed", UNUSED]), silent="error-unused-parameters"),
    case(ERRORS, "the text of a warning in the next line",
         pasted("/x/y.py:9: UserWarning: ", "   failed to use it: No CUDA GPUs are available"), silent=NO_ERROR),
    case(ERRORS, "numbers before a line of information",
         log([*losses(9), "cuda_errors 0 exit_code 137 killed 3", "INFO CUDA out of memory guard is on"]),
         silent=NO_ERROR),
    case(ERRORS, "help text",
         pasted("usage: fit.py [-h]", "  --find-unused    pass it where it failed with: " + UNUSED), silent=NO_ERROR),
    case(ERRORS, "a warning is no error",
         pasted("9/20 [00:10<01:00]/x/loss.py:431: UserWarning: Using a target size (torch.Size([16, 1])) that is"
                " different to the input size (torch.Size([16]))."), "warning-target-size", "error-shapes"),
    case(ERRORS, "a target of one element",
         pasted("/x/loss.py:4: UserWarning: Using a target size (torch.Size([])) that is different to the input size"
                " (torch.Size([1]))."), silent="warning-target-size"),
    case(ERRORS, "a loss that is stated and finite", pasted("final loss nan", "test loss 0.31"),
         silent="loss-stated-non-finite"),
    case(ERRORS, "a batch that is skipped", pasted("the loss is nan, skipping this batch"),
         silent="loss-stated-non-finite"),
    case(ERRORS, "far from the end of a long log",
         pasted(f"   {UNUSED}", *(f"loading shard {n}" for n in range(400))), silent=NO_ERROR),
]  # fmt: skip


def scales(first: float, times: int) -> list[str]:
    """What fairseq says of a scale that is halved again and again."""
    return [f"| WARNING: overflow detected, setting loss scale to: {first / 2**n}" for n in range(times)]


def surrogate(*divergences: float) -> list[str]:
    """The passes of one update, as a table without its steps."""
    return ["     pol_surr |            kl |           ent",
            *(f"      {0.9 - n / 5:.5f} |      {kl:.5f} |     -0.35" for n, kl in enumerate(divergences))]  # fmt: skip


def waits(first: int, *parts: float) -> list[str]:
    """Steps of two seconds that wait for this part of them."""
    return [f"Epoch [1][{first + n}/9000] lr: 0.02, time: 2.000, data_time: {2 * part:.3f}, loss: 0.{5 + n}"
            for n, part in enumerate(parts)]  # fmt: skip


def steps(epoch: int, first: int, *times: float) -> list[str]:
    """The steps of a pass, with the time of each."""
    return [f"Epoch: [{epoch}][{first + n}/40]  Time {took:.3f}  Loss {5 + n % 3}.5" for n, took in enumerate(times)]


BEFORE = ["step 810 loss 1.43 grad_norm 3.4", "step 820 loss 1.39 grad_norm 4.1"]
GROWING = [0.4 + n / 20 + (n % 3) / 8 for n in range(30)]
YOLO = "               Class      Images      Labels           P           R      mAP@.5"
SHORT: list[Case] = [
    case(METRICS, "a scale that falls below all use", pasted(*scales(0.5, 12)), "loss-scale-at-floor"),
    case(METRICS, "the search for a scale", pasted(*scales(65536, 6)), silent="loss-scale-at-floor"),
    case(GRADIENTS, "a norm that is NaN is no size",
         pasted(*(f"step {n} loss {2 - n / 50} grad_norm {'nan' if n > 5 else 1.5}" for n in range(1, 9))),
         "grad-norm-non-finite", "grad-norm-exploded grad-norm-steady"),
    case(GRADIENTS, "a norm that is NaN as the loss is thrown up",
         pasted(*BEFORE, "step 830 loss 2.3 grad_norm nan"),
         "grad-norm-non-finite"),
    case(GRADIENTS, "a step that was skipped",
         pasted(*BEFORE, "step 830 loss 1.4 grad_norm nan"),
         silent="grad-norm-non-finite"),
    case(GRADIENTS, "a norm that is NaN throughout",
         pasted(*(f"iteration {n}/900 | learning rate: 3.0E-04 | grad norm: nan |" for n in range(40, 44))),
         "grad-norm-non-finite", "grad-norm-exploded"),
    case(METRICS, "a policy that runs away within an update", pasted(*surrogate(0.012, 1.9, 3.1, 4.4)),
         "policy-kl-ran-away"),
    case(METRICS, "a policy that takes a small step", pasted(*surrogate(0.001, 0.012, 0.02, 0.03)),
         silent="policy-kl-ran-away"),
    case(PACE, "a few steps far into the run wait", pasted(*waits(5231, 0.82, 0.8, 0.81)), "loader-starves-device"),
    case(PACE, "the first steps of a run wait", pasted(*waits(1, 0.82, 0.8, 0.81)), silent="loader-starves-device"),
    case(PACE, "one of a few steps waits", pasted(*waits(5231, 0.82, 0.1, 0.81)), silent="loader-starves-device"),
    case(PACE, "batches sorted by length", pasted(*steps(7, 1, *GROWING)), silent="steps-slow-down steps-crawl"),
    case(PACE, "steps that grow in the first pass", pasted(*steps(1, 1, *GROWING)), "steps-slow-down"),
    case(DATA, "a table of scores that counts no label", pasted(YOLO, "   all    12   0   0   0   0"),
         "evaluated-without-labels"),
    case(DATA, "labels that are not found yet", pasted(YOLO, "   all    12   31   0   0   0"),
         silent="evaluated-without-labels"),
]  # fmt: skip
CASES = [*READ, *SILENT, *SHORT]


@pytest.mark.parametrize("found", CASES, ids=[found.name for found in CASES])
def test_text_is_asked_where_its_form_is_lost(tmp_path: Path, found: Case) -> None:
    check(found, tmp_path)
