"""Whether packages, driver and accelerator fit each other, and whether the accelerator is used."""

from traindx.detectors.environment import accelerator, versions
from traindx.readers import Run
from traindx.readers.excerpts import log_heads, read_excerpt
from traindx.readers.model import Stretch, is_shell
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

_REPORTS = ("collect_env", "nvidia-smi", "nvidia_smi", "environment", "env_info", "system_info")
_MOST_SCRIPTS = 20


class Input(ToolInput):
    """No options: every list of packages and the beginning of every log is looked at."""


class EnvironmentReport(ToolOutput):
    """The versions that were found, as spelled."""

    versions: dict[str, str]


@tool(needs=["settings", "files"], emits={**versions.SIGNALS, **accelerator.SIGNALS})
def check_environment(given: Input, run: Run) -> EnvironmentReport:  # noqa: ARG001 - every tool takes its input
    """Compare the versions in package lists and logs with each other, the driver with the build of torch, and look
    whether a GPU that is there or was asked for is used.
    """
    heads = list(log_heads(run, versions.MOST_LINES))
    reports = [
        file.path
        for file in run.files
        if file.role in {"other", "config", "output"} and any(name in file.path.lower() for name in _REPORTS)
    ]
    heads += [read_excerpt(run, Stretch(path, 1, versions.MOST_LINES)) for path in reports[:_MOST_SCRIPTS]]
    scripts = [file.path for file in run.files if file.role == "code" and is_shell(file.path)][:_MOST_SCRIPTS]
    known = versions.installed(run.settings, heads)
    found = [
        *versions.detect(known, heads),
        *accelerator.detect(
            run.settings, run.program, heads, [read_excerpt(run, Stretch(path, 1, 200)) for path in scripts]
        ),
    ]
    if not known and not found:
        raise NoData("no list of packages, no version in a log and no word about the device")
    names = ("python", "torch", "torchvision", "torchaudio", "numpy", "transformers", "tensorflow", "jax")
    told = {name: known[name].text for name in names if name in known}
    return EnvironmentReport(versions=told, signals=found)
