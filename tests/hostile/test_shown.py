"""What changes what the reader does next is in the report without `-v`."""

import os
import pickle
import shutil
from pathlib import Path

import pytest

from traindx import TraindxError, diagnose
from traindx.api import gather_context
from traindx.readers.faults import Remarks
from traindx.readers.folder import discover

pytestmark = pytest.mark.slow


class Hostile:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


def test_dangers_links_and_emptiness_are_notable(tmp_path: Path, broken_run: Path) -> None:
    assert diagnose(tmp_path).notable == ["the run folder has no readable file"]
    shutil.copy(broken_run / "metrics.csv", tmp_path)
    assert diagnose(tmp_path).notable == []
    (tmp_path / "model.pt").write_bytes(pickle.dumps(Hostile(), protocol=2))
    (tmp_path / "train.log").symlink_to("/etc/passwd")
    notable = diagnose(tmp_path).notable
    assert any("do not unpickle" in row for row in notable)
    assert any("`train.log`: a symbolic link, not followed" in row for row in notable)
    assert set(notable) <= set(gather_context(tmp_path).missing)


def test_the_whole_machine_is_no_run() -> None:
    with pytest.raises(TraindxError, match="the whole machine"):
        diagnose("/")


def test_the_folders_of_the_system_are_not_walked() -> None:
    remarks = Remarks()
    walk = discover._Walk("/", remarks, ["proc", "sys", "dev"])
    walk.run()
    assert (walk.seen, remarks.texts) == (0, [])
