"""Exceptions whose words no family lists, by their class, the place that raised them and what they speak of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, log, losses

ERRORS = "explain_error"
_SITE = "/opt/env/lib/python3.11/site-packages/"
_OWN = 'Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 31, in <module>\n    main()\n'


def raised(text: str, place: str = "", function: str = "step", code: str = "") -> dict[str, str]:
    """A log that ends with an exception: raised in a package at `place`, else in the user's own `function`."""
    path = _SITE + place if place else "/home/u/proj/engine.py"
    frame = f'  File "{path}", line 88, in {function}\n' + (f"    {code}\n" if code else "")
    return log(["starting", _OWN + frame + text])


LISTED = "error-unexplained"
KNOWN: list[Case] = [
    case(ERRORS, "two shapes that were to fit",
         raised("ValueError: the mask has 77 columns but the scores have 154", "acme_nn/attend.py", "forward"),
         "error-shapes", LISTED),
    case(ERRORS, "an array of the wrong type",
         raised("TypeError: operands need one dtype, found bfloat16 and float32", "jax/_src/lax/ops.py"),
         "error-dtype-mismatch", LISTED),
    case(ERRORS, "a tensor in the wrong memory",
         raised("ValueError: the kernel cannot read this pointer from the GPU (cpu tensor?)", "fastkern/run.py"),
         "error-device-mismatch", LISTED),
    case(ERRORS, "a state that does not fit, by the place that raised it",
         raised("ValueError: 12 layers were expected and 9 are saved", "acme_nn/io.py", "load_checkpoint"),
         "error-checkpoint-keys", "error-shapes error-config"),
    case(ERRORS, "a key that a resumed state lacks", raised("KeyError: 'ema'", function="resume"),
         "error-checkpoint-keys", LISTED),
    case(ERRORS, "a state cut off",
         raised("BlobError: header says 4096, the stream is truncated", "safetensors/blob.py", "load_file"),
         "error-checkpoint-corrupt", LISTED),
    case(ERRORS, "a path in a sentence of its own",
         raised("AudioError: clips/a-17.flac: could not open it", "acme_audio/io.py", "read"),
         "error-missing-file", LISTED),
    case(ERRORS, "an account that is not known", raised("BadCredentialError: who?", "acme_cloud/client.py", "call"),
         "error-authentication", LISTED),
    case(ERRORS, "what a downloader raises",
         raised("RuntimeError: the digest is another one", "torch/hub.py", "download_url_to_file"),
         "error-download", LISTED),
    case(ERRORS, "a package that fails while it is imported",
         raised("TypeError: unhashable type: 'list'", "acme_nn/layers/base.py", "<module>"),
         "error-dependency", LISTED),
    case(ERRORS, "a package that gives another one an argument it does not have",
         raised("TypeError: Engine.__init__() got an unexpected keyword argument 'pool'", "acme_rl/run.py", "__init__"),
         "error-dependency", "error-config error-unexplained"),
    case(ERRORS, "a package that asks another one for what it does not have",
         raised("AttributeError: 'PagedCache' object has no attribute 'capacity'", "acme_rl/run.py", "attend"),
         "error-dependency", LISTED),
    case(ERRORS, "a card that is too old",
         raised("AssertionError: this kernel requires compute capability 8.9", "fastkern/check.py", "check_card"),
         "error-cuda-environment", "error-config error-unexplained"),
    case(ERRORS, "a cache that does not fit on the card",
         raised("ValueError: the KV cache is larger than the GPU memory that is left", "acme_rl/cache.py", "size"),
         "error-device-memory", LISTED),
    case(ERRORS, "a library refuses its setting",
         raised("ValueError: `warm_ratio` must lie between 0 and 1, was 3", "acme_opt/schedule.py", "rate"),
         "error-config", LISTED),
    case(ERRORS, "a library refuses while it is set up",
         raised("AssertionError: both were given at once", "acme_nn/engine.py", "__init__"), "error-config", LISTED),
    case(ERRORS, "the user's own check of a setting",
         raised("ValueError: unknown backbone rn51", function="build", code='raise ValueError(f"unknown {n}")'),
         "error-config", LISTED),
    case(ERRORS, "an environment that breaks its contract",
         raised("AssertionError: reset() returned a list", "gymnasium/check.py", "reset"), "error-config", LISTED),
    case(ERRORS, "a matrix that cannot be factored any more",
         raised("LinAlgError: the decomposition failed to converge", "torch/linalg/qr.py", "qr"),
         "error-not-finite", LISTED),
    case(ERRORS, "data with holes", raised("DataError: column 3 contains NaN", "sklearn/checks.py", "fit"),
         "error-input-not-finite", LISTED),
    case(ERRORS, "a class too many",
         raised("AssertionError: label 12 exceeds the 10 classes", code="assert y.max() < n"),
         "error-label-range", LISTED),
    case(ERRORS, "processes that have no group",
         raised("ValueError: the distributed backend was not initialized", "acme_nn/ddp.py", "wrap"),
         "error-rendezvous", LISTED),
    case(ERRORS, "the exception of another process in the message of the one that reports it",
         raised("acme.RemoteTaskError(ValueError): remote::worker() (pid=7, ip=10.0.0.2)\n"
                f'  File "{_SITE}acme_rl/batch.py", line 19, in validate\n'
                "ValueError: `group` must be divisible by 8", "acme_rl/driver.py", "get"),
         "error-config", LISTED),
    case(ERRORS, "an assertion without a word, by its code",
         raised("AssertionError", code="assert torch.isfinite(total)"), "error-not-finite", LISTED),
    case(ERRORS, "an assertion about shapes", raised("AssertionError", code="assert q.shape[1] == k.shape[1]"),
         "error-shapes", LISTED),
    case(ERRORS, "an assertion about a folder", raised("AssertionError", code="assert os.path.isdir(root)"),
         "error-missing-file", LISTED),
    case(ERRORS, "a key that the configuration lacks", raised("KeyError: 'decay'", code="d = cfg['optim']['decay']"),
         "error-config", LISTED),
    case(ERRORS, "an option that nobody declared",
         raised("AttributeError: 'Namespace' object has no attribute 'decay'"), "error-config", LISTED),
    case(ERRORS, "lengths that differ, without numbers",
         raised("TableError: the length of labels differs from that of the rows", "acme_tree/table.py", "fit"),
         "error-shapes", LISTED),
    case(ERRORS, "IPython names the function",
         log(["starting", "---------------------------------------------------------------------------",
              "KeyError                                  Traceback (most recent call last)",
              "Cell In[3], line 4", "----> 4 resume(path)",
              "File ~/proj/state.py:12, in resume(path)", "---> 12 model.ema = blob['ema']", "KeyError: 'ema'"]),
         "error-checkpoint-keys", LISTED),
    case(ERRORS, "rich names the function",
         log(["starting", "╭──────────── Traceback (most recent call last) ────────────╮",
              "│ /home/u/proj/train.py:9 in main                           │",
              "│ /home/u/proj/state.py:12 in resume                        │",
              "│ ❱ 12     model.ema = blob['ema']                          │",
              "╰───────────────────────────────────────────────────────────╯", "KeyError: 'ema'"]),
         "error-checkpoint-keys", LISTED),
]  # fmt: skip

# what a program says of its own accord, and the family
REFUSED: list[tuple[str, str]] = [
    ("ValueError: dropout has to lie in [0, 1)", "error-config"),
    ("RuntimeError: unknown preset 'tiny' (known: base, large)", "error-config"),
    ("RuntimeError: --warm and --cold exclude each other", "error-config"),
    ("ValueError: this snapshot lacks the decoder", "error-checkpoint-keys"),
    ("RuntimeError: it was trained with 6 stages, this config has 8", "error-checkpoint-keys"),
    ("ValueError: sha256 of best.pt is another one: damaged", "error-checkpoint-corrupt"),
    ("RuntimeError: nothing found under /data/clips", "error-missing-file"),
    ("RuntimeError: die Datei 'teil3.h5' wurde nicht gefunden", "error-missing-file"),
    ("RuntimeError: teil3.h5 が存在しません", "error-missing-file"),
    ("RuntimeError: gave up on https://data.example.org/a.tar after 4 tries", "error-download"),
    ("RuntimeError: no GPU is visible", "error-cuda-environment"),
    ("ValueError: the count of poses must match the count of frames: lengths differ", "error-shapes"),
    ("ValueError: keys come as (8, 40), values as (8, 41)", "error-shapes"),
    ("TypeError: images arrive as uint8, float32 is expected", "error-dtype-mismatch"),
    ("RuntimeError: the mask is on cpu and the scores are on cuda:0", "error-device-mismatch"),
    ("RuntimeError: the objective became non-finite", "error-not-finite"),
    ("ValueError: 7 rows of depth.csv are NaN", "error-input-not-finite"),
    ("ValueError: class 9 is outside the 9 classes", "error-label-range"),
    ("RuntimeError: RSS is 61 GB of 64 GB", "error-host-memory"),
    ("RuntimeError: a batch of 9 does not fit on the card", "error-device-memory"),
    ("RuntimeError: only 0.4 GB left on /scratch", "error-disk-full"),
    ("RuntimeError: may not write to /srv/out", "error-permission"),
    ("RuntimeError: ACME_API_KEY is not set", "error-authentication"),
    ("RuntimeError: rank 2 could not reach the master", "error-rendezvous"),
    ("RuntimeError: ranks disagree on the batches: 9, 8", "error-rank-divergence"),
    ("RuntimeError: the wall time is used up", "error-time-limit"),
]

OWN_BUGS = [
    raised("KeyError: 'boxes'", function="collate"),
    raised("IndexError: list index out of range", function="__getitem__"),
    raised("AttributeError: 'NoneType' object has no attribute 'shape'", function="forward"),
    raised("AttributeError: 'Net' object has no attribute 'head'", function="forward"),
    raised("TypeError: forward() takes 2 positional arguments but 3 were given", "torch/nn/modules/module.py", "_call"),
    raised("ValueError: invalid literal for int() with base 10: 'cat'", function="parse_row"),
    raised("ZeroDivisionError: division by zero", function="restore_mean"),
    raised("UnboundLocalError: local variable 'loss' referenced before assignment", function="build"),
    raised("KeyError: 'target'", "pandas/core/indexes/base.py", "get_loc"),
    raised("RuntimeError: boom", function="load_images"),
    raised("KeyError: 'decay'", code="d = batch['decay']"),
    raised("AssertionError", code="assert ready"),
    raised("RuntimeError: the state is inconsistent", code="raise RuntimeError(text)"),
    raised("ValueError: list.remove(x): x not in list", code="left.remove(one)"),
    raised("ValueError: substring not found", code="at = text.index('.')"),
]


@pytest.mark.parametrize("one", KNOWN, ids=lambda one: one.name)
def test_an_exception_is_known_by_what_it_is_and_where_it_was_raised(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)


@pytest.mark.parametrize(("text", "family"), REFUSED, ids=[text for text, _ in REFUSED])
def test_what_a_program_refuses_is_known_by_what_it_speaks_of(text: str, family: str, tmp_path: Path) -> None:
    files = raised(text, code="raise refused(text)")
    check(case(ERRORS, text, files, family, LISTED), tmp_path)


@pytest.mark.parametrize("files", OWN_BUGS)
def test_the_bugs_of_a_program_are_no_family(files: dict[str, str], tmp_path: Path) -> None:
    check(case(ERRORS, "a bug", files, "error-unexplained", "error-config error-shapes error-dependency"), tmp_path)


def test_a_pipe_whose_other_end_is_gone_names_no_cause(tmp_path: Path) -> None:
    files = raised("EOFError", "multiprocessing/connection.py", "_recv")
    check(case(ERRORS, "a pipe", files, "run-ended-by-error", "error-unexplained"), tmp_path)


def test_a_run_that_goes_on_after_such_an_exception_has_survived_it(tmp_path: Path) -> None:
    text = raised("ValueError: `warm_ratio` must lie between 0 and 1", "acme_opt/schedule.py")["train.log"]
    lines = [*losses(30)[:10], *text.splitlines(), *losses(30)[10:]]
    check(case(ERRORS, "survived", log(lines), "error-survived", "error-config run-ended-by-error"), tmp_path)
