"""Which Python names a checkpoint may ask for: those torch trusts, those that run code, and all others."""

from __future__ import annotations

import re
from typing import Literal


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What `torch.load(weights_only=True)` accepts (torch/_weights_only_unpickler.py, torch 2.13).
_TRUSTED = re.compile(
    r"collections\.(?:OrderedDict|Counter)|torch\.nn\.parameter\.(?:Parameter|Buffer|UninitializedParameter)"
    r"|torch\.(?:Size|Tensor|device)|torch\.serialization\._get_layout|_codecs\.encode|builtins\.(?:bytearray|set|complex)"
    r"|torch\.(?:q?u?int\d{1,2}(?:x\d)?|quint4x2|bits\w{1,8}|b?float\w{1,20}|half|double|long|short|uint8|bool|complex\d{2,3})"
    r"|torch\.(?:cuda\.)?(?:Double|Float|Half|BFloat16|Long|Int|Short|Char|Byte|Bool|Complex\w{1,8}|QU?Int\w{1,6})"
    r"(?:Storage|Tensor)|torch\.(?:storage\.)?(?:UntypedStorage|TypedStorage|_UntypedStorage|_TypedStorage)"
    r"|torch\.per_(?:tensor|channel)\w{1,40}|torch\._tensor\._rebuild_from_type_v2"
    r"|torch\._utils\._rebuild_(?:tensor(?:_v2|_v3)?|parameter(?:_with_state)?|qtensor|sparse_tensor|sparse_csr_tensor"
    r"|meta_tensor_no_storage|device_tensor_from_(?:numpy|cpu_tensor)|nested_tensor|wrapper_subclass)"
)
# Refused by torch unless allowed by hand, but making plain values only.
_PLAIN = re.compile(
    r"numpy\.(?:_?core\.multiarray\.(?:_reconstruct|scalar)|ndarray|dtype|_?core\.numeric\._frombuffer"
    r"|dtypes\.\w{1,30}|(?:float|int|uint|bool|complex)\d{0,3}_?)"
    r"|collections\.(?:defaultdict|deque)|datetime\.(?:datetime|date|timedelta|timezone)|decimal\.Decimal|uuid\.UUID"
    r"|pathlib\.(?:_local\.)?(?:Pure)?(?:Posix|Windows)?Path|argparse\.Namespace"
    r"|builtins\.(?:list|dict|tuple|frozenset|int|float|str|bytes|bool|object|range|slice|type|NoneType)"
    r"|copyreg\._reconstructor|copy_reg\._reconstructor|types\.SimpleNamespace"
)
_RUNS_CODE = _words(
    "os posix nt subprocess sys shutil socket pty commands runpy importlib imp code codeop timeit pdb bdb webbrowser "
    "ctypes _ctypes marshal pickle _pickle cPickle dill urllib urllib2 http ftplib smtplib requests httpx asyncio "
    "multiprocessing _posixsubprocess signal platform pip distutils setuptools venv ensurepip zipimport pkgutil "
    "linecache inspect trace profile cProfile doctest sqlite3 tempfile glob fileinput nturl2path telnetlib "
    "xmlrpc cgi antigravity ssl idlelib lib2to3 pydoc"
)
_RUNS_CODE_NAMES = _words(
    "builtins.eval builtins.exec builtins.compile builtins.open builtins.__import__ builtins.getattr builtins.setattr "
    "builtins.delattr builtins.globals builtins.locals builtins.vars builtins.input builtins.breakpoint builtins.apply "
    "builtins.execfile builtins.file builtins.map builtins.filter builtins.help io.open _io.open _io.FileIO io.FileIO "
    "operator.attrgetter operator.methodcaller operator.itemgetter _operator.attrgetter _operator.methodcaller "
    "types.FunctionType types.CodeType types.LambdaType types.MethodType functools.reduce _functools.reduce "
    "torch.load torch.hub.load torch.jit.load torch.serialization.load torch.storage._load_from_bytes "
    "torch.utils.cpp_extension.load torch.utils.cpp_extension.load_inline torch.ops.load_library "
    "torch.classes.load_library torch._dynamo.guards.GuardBuilder.get joblib.load numpy.load codecs.open "
    "site.addsitedir"
)
_RUNS_CODE_BELOW = (
    "torch.hub.",
    "torch.utils.cpp_extension.",
    "torch.utils.collect_env.",
    "torch.utils._config_module.",
    "torch.testing._internal.",
    "torch.multiprocessing.",
    "numpy.testing.",
    "numpy.f2py.",
    "numpy.distutils.",
)
_HIDDEN = _words("os sys subprocess builtins shutil socket importlib runpy posix ctypes")

# Python's own way to pickle enums and bound methods, tensors in plain pickles, functions: everyday objects need them.
# They are as dangerous as what they are given.
_EVERYDAY = _words(
    "builtins.getattr torch.storage._load_from_bytes operator.attrgetter operator.methodcaller operator.itemgetter "
    "_operator.attrgetter _operator.methodcaller _operator.itemgetter types.FunctionType types.CodeType "
    "types.LambdaType types.MethodType functools.reduce _functools.reduce builtins.map builtins.filter builtins.vars"
)
_EVERYDAY_PACKAGES = _words("dill multiprocessing platform signal inspect glob tempfile ssl asyncio")

Trust = Literal["trusted", "plain", "foreign", "unsafe"]


def trust(name: str) -> Trust:
    """How far loading a global of this dotted name goes."""
    if _TRUSTED.fullmatch(name):
        return "trusted"
    if _PLAIN.fullmatch(name):
        return "plain"
    first, *rest = name.split(".")
    if name in _RUNS_CODE_NAMES or first in _RUNS_CODE or first == "?" or name.startswith(_RUNS_CODE_BELOW):
        return "unsafe"
    # `torch.serialization.os.system` is the way around lists that look at the first part only.
    if any(part in _HIDDEN for part in rest[:-1]):
        return "unsafe"
    return "foreign"


def runs_commands(name: str) -> bool:
    """Whether a global can only be there to run commands or code: no ordinary object of a training needs it."""
    return trust(name) == "unsafe" and name not in _EVERYDAY and name.partition(".")[0] not in _EVERYDAY_PACKAGES
