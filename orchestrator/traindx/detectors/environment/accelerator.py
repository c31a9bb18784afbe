"""An accelerator that is there, or was asked for, while the run computes on the CPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line, cite_setting
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.model import Excerpt, Setting
from traindx.readers.quoting import quote_of

SIGNALS = {
    "gpu-asked-cpu-used": "a GPU was asked for, and the run computes on the CPU",
    "gpu-there-cpu-used": "a GPU is there, nothing chooses the CPU, and the run computes on it",
}

MOST_LINES = 600
_ON_CPU = re.compile(
    r"\bGPU available: (?:True[^,]{0,20}|False), used: False\b"
    r"|\b(?:using|on|selected|chosen|active)?\s*(?:torch )?device(?: type)?\s*(?:is|[:=])?\s*['\"(]?cpu\b"
    r"|\b(?:using|running on|training on|falling back to|fall back to|defaulting to)\s+(?:the\s+)?cpu\b"
    r"|\bcuda(?:\.is_available\(\)| is available| available| is_available)?\s*[:=]\s*False\b"
    r"|\bIs CUDA available: False\b|\bCUDA is not available\b|\bSkipping registering GPU devices\b"
    r"|\bNum GPUs Available:\s*0\b|\bCpuDevice\(id=|\bNo GPU/TPU found, falling back to CPU\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"Could not load dynamic library|cannot open shared object file|Cannot dlopen some GPU libraries"
    r"|CUDA initialization: |Found no NVIDIA driver|failed call to cuInit|driver on your system is too old"
    r"|Torch not compiled with CUDA|CUDA driver version is insufficient|Unable to initialize backend '(?:cuda|gpu)'"
    r"|Could not find (?:cuda drivers|TensorRT)|libcu\w+\.so\S* not found|NVML: (?:Driver|Unknown)"
    r"|no CUDA-capable device"
    r"|Unable to register cu\w+ factory|An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib"
    r"|The current PyTorch install supports CUDA capabilities|is not compatible with the current PyTorch installation",
    re.IGNORECASE,
)
"""why a library goes without the GPU that is there"""
_ASIDE = re.compile(
    r"offload|map_location|checkpoint|load(?:ing|ed|er)|metric|pin_?memory|preprocess|token", re.IGNORECASE
)
"""what may well be on the CPU while the model is on a GPU"""
_ON_GPU = re.compile(
    r"\bused: True\b|\bcuda:\d|\bdevice(?: type)?\s*(?:is|[:=])?\s*['\"(]?(?:cuda|gpu)\b"
    r"|\b(?:using|running on|training on)\s+(?:the\s+)?(?:gpu|cuda)\b",
    re.IGNORECASE,
)
_GPU_SEEN = re.compile(
    r"\bGPU available: True\b|\bNVIDIA GPU may be present\b|"
    r"\bNVIDIA (?:[AHLVTB]\d{1,3}|RTX|GeForce|Tesla|Quadro)\b|"
    r"\bGPU \d+: (?:NVIDIA|AMD|Tesla|GeForce|Quadro)|\bNVIDIA-SMI \d|"
    r"\|\s+\d+\s+(?:NVIDIA|Tesla|GeForce|Quadro)\b|\bFound \d+ (?:CUDA )?GPUs?\b|\bphysical GPUs?: [1-9]"
    r"|\b(?:allocated|visible)?\s*gpus?\s*(?:allocated|visible)?\s*[:=]\s*[1-9]\d?\b|\bCUDA_VISIBLE_DEVICES\s*=\s*\d"
    r"|\bgres[/:=]gpu",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\s*#SBATCH\s+.*--(?:gres=gpu|gpus(?:-per-\w+)?=?\s?[1-9])|\s--(?:gpus?|n_gpus?|num_gpus)[= ][1-9]"
)
_CHOSEN = re.compile(
    r"--(?:device|accelerator)[= ]['\"]?cpu\b|--(?:no[-_]cuda|use[-_]cpu|cpu)\b"
    r"|CUDA_VISIBLE_DEVICES=(?:''|\"\"|-1)?(?:\s|$)"
)
"""`--device cpu`, an empty `CUDA_VISIBLE_DEVICES`: what a command line says"""
_KEYS = {
    "device",
    "accelerator",
    "gpus",
    "ngpus",
    "numgpus",
    "usegpu",
    "usecuda",
    "cuda",
    "devicetype",
    "gpu",
    "platform",
}
_CPU_KEYS = {"nocuda", "usecpu", "forcecpu", "cpu", "cpuonly"}


def detect(
    settings: Sequence[Setting], code: Sequence[CodeUnit], heads: Sequence[Excerpt], scripts: Iterable[Excerpt]
) -> list[Signal]:
    """The line that says CPU, with the place that asks for a GPU or shows one."""
    asked = _asked(settings)
    # A configuration that asks for a GPU is not overruled by a default in the code: that default may be the fault.
    if _chose_cpu(settings, [] if asked else code) or any(_chose_in_log(head) for head in heads):
        return []
    on_cpu = next(_lines(heads, _ON_CPU, "the run computes on the CPU", _ASIDE), None)
    if on_cpu is None or next(_lines(heads, _ON_GPU, ""), None) is not None:
        return []
    facts: dict[str, Fact] = {"cpu_line": on_cpu.quote[:120]}
    asked = asked or next(_lines(scripts, _ASKS, "the job asks for a GPU"), None)
    seen = next(_lines(heads, _GPU_SEEN, "a GPU is there"), None)
    why = next(_lines(heads, _REASON, "why the GPU is not used"), None)
    reasons = [why] if why is not None and why.locator != on_cpu.locator else []
    if asked is not None:
        claim = f"a GPU was asked for ({asked.source}), and the log says: {on_cpu.quote[:100]}"
        facts["gpu_place"] = f"{asked.source}:{asked.locator.removeprefix('line ')}"
        return [Signal(id="gpu-asked-cpu-used", claim=claim, citations=[on_cpu, asked, *reasons], facts=facts)]
    if seen is not None:
        claim = f"a GPU is there, and the log says: {on_cpu.quote[:100]}"
        return [Signal(id="gpu-there-cpu-used", claim=claim, citations=[on_cpu, seen, *reasons], facts=facts)]
    return []


def _lines(
    texts: Iterable[Excerpt], wanted: re.Pattern[str], claim: str, unless: re.Pattern[str] | None = None
) -> Iterator[Citation]:
    for text in texts:
        for number, line in text.numbered():
            if len(line) < 600 and wanted.search(line) and not (unless is not None and unless.search(line)):
                yield cite_line(text.source, number, claim, quote_of(line))


def _plain(key: str) -> str:
    return key.rsplit(".", 1)[-1].lower().replace("_", "").replace("-", "")


def _asked(settings: Sequence[Setting]) -> Citation | None:
    for row in settings:
        value = str(row.value).lower()
        if row.coded or _plain(row.key) not in _KEYS or row.key.startswith("packages."):
            continue
        number = isinstance(row.value, int) and not isinstance(row.value, bool) and 0 < row.value <= 64
        counts = number and _plain(row.key) in {"gpus", "ngpus", "numgpus"}
        if counts or value.startswith(("cuda", "gpu")) or (row.value is True and _plain(row.key) != "gpu"):
            return cite_setting(row, f"`{row.key}` = {row.value} asks for a GPU")
    return None


def _chose_cpu(settings: Sequence[Setting], code: Sequence[CodeUnit]) -> bool:
    """Whether a configuration or the program chooses the CPU."""
    for row in settings:
        value = str(row.value).lower()
        if _plain(row.key) in _KEYS and (value in {"cpu", "false", "0", "none"}) and not row.coded:
            return True
        if _plain(row.key) in _CPU_KEYS and value in {"true", "1"}:
            return True
    for unit in code:
        texts = {node.value for node in ast.walk(unit.tree) if isinstance(node, ast.Constant)}
        cuda = any(isinstance(text, str) and text.startswith(("cuda", "gpu", "mps")) for text in texts)
        names = {name_of(node) for node in ast.walk(unit.tree) if isinstance(node, ast.Attribute)}
        if "cpu" in texts and not cuda and "cuda" not in names:
            return True
    return False


def _chose_in_log(head: Excerpt) -> bool:
    """Whether the command in a log chooses the CPU."""
    return any(_CHOSEN.search(line) for line in head.lines)
