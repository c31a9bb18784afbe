"""Every citation is opened again, in the worker; a fabricated one never passes."""

import pytest

from traindx.contract import Evidence, Fix, RootCause
from traindx.diagnosis.evidence import verify
from traindx.readers import Scope
from traindx.runtime import Toolbelt

TABLE = "epoch,train_loss\n1,0.9\n2,0.5\n3,nan\n"
CODE = "import torch\nlr = 0.3  # chosen by hand\n"


@pytest.fixture(scope="module")
def toolbelt(tmp_path_factory: pytest.TempPathFactory) -> Toolbelt:
    folder = tmp_path_factory.mktemp("run")
    (folder / "metrics.csv").write_text(TABLE)
    (folder / "train.py").write_text(CODE)
    (folder.parent / "secret.txt").write_text("token\n")
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    return Toolbelt(Scope.of(folder))


def verified(toolbelt: Toolbelt, source: str, locator: str, quote: str) -> bool:
    piece = Evidence(claim="c", kind="direct", source=source, locator=locator, quote=quote, verified=True)
    fix = Fix(summary="x", expected="x", verify="x", fallback="x")
    cause = RootCause(
        id="x", issue="x", severity="low", confidence=0.9, evidence=[piece], fix=fix, specialist="ml-debugger"
    )
    return verify([cause], toolbelt)[0].evidence[0].verified


@pytest.mark.parametrize(
    ("source", "locator", "quote"),
    [
        ("train.py", "line 2", "lr = 0.3"),
        ("train.py", "line 2", "lr  =  0.3 # chosen"),
        ("metrics.csv", "line 3, epoch 2", "2,0.5"),
        ("metrics.csv", "epoch 2 of train/loss", "0.5"),
        ("metrics.csv", "epoch 3 of train_loss", "nan"),
    ],
)
def test_a_true_citation_is_verified(toolbelt: Toolbelt, source: str, locator: str, quote: str) -> None:
    assert verified(toolbelt, source, locator, quote)


@pytest.mark.parametrize(
    ("source", "locator", "quote"),
    [
        ("train.py", "line 2", "lr = 0.03"),
        ("train.py", "line 1", "lr = 0.3"),
        ("train.py", "line 99", "lr = 0.3"),
        ("train.py", "line 0", "import torch"),
        ("train.py", "", "lr = 0.3"),
        ("train.py", "somewhere near the top", "lr = 0.3"),
        ("train.py", "line 2", ""),
        ("gone.py", "line 1", "import torch"),
        ("../secret.txt", "line 1", "token"),
        ("out.txt", "line 1", "token"),
        ("/etc/hostname", "line 1", ""),
        ("metrics.csv", "epoch 2 of train/loss", "1.0"),
        ("metrics.csv", "epoch 7 of train/loss", "0.5"),
        ("metrics.csv", "step 2 of train/loss", "0.5"),
        ("metrics.csv", "epoch 2 of val/loss", "0.5"),
        ("metrics.csv", "epoch 2 of train/loss", "about half"),
    ],
)
def test_a_fabricated_citation_is_not(toolbelt: Toolbelt, source: str, locator: str, quote: str) -> None:
    assert not verified(toolbelt, source, locator, quote)
