"""The training loop around a place, and the names that it carries, as they stand in the tree."""

from __future__ import annotations

import ast
import builtins

_STATE_ARGUMENTS = frozenset({"hx", "h", "h0", "hidden", "state", "states", "carry", "memory", "hidden_state"})
_LIBRARIES = frozenset({"torch", "F", "np", "numpy", "jnp", "math", "operator"})


def training_loops(tree: ast.AST) -> list[ast.For | ast.While]:
    """Innermost loops that hold both a forward call with state and a backward."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While) and _calls(node, "backward")]
    return [loop for loop in loops if not any(other is not loop and other in set(ast.walk(loop)) for other in loops)]


def _calls(node: ast.AST, method: str) -> list[ast.Call]:
    return [
        call
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method
    ]


def carried_in(loop: ast.For | ast.While) -> dict[str, int]:
    """Names that a call both takes and returns, as in `out, h = rnn(x, h)` and `h = cell(x, h)`."""
    found: dict[str, int] = {}
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            for name in sorted(_stepped(node)):
                found.setdefault(name, node.lineno)
    return found


def _stepped(node: ast.Assign) -> set[str]:
    """The states that an assignment takes one step on.

    A call that gives back one thing takes its state after the input, or by name: `x = block(x, mask)` and
    `total = max(loss, total)` are none.
    """
    call = node.value
    if not isinstance(call, ast.Call):
        return set()
    targets = {name for target in node.targets for name in _names(target)}
    if _unpacks(node):
        return targets & {name for argument in call.args for name in _names(argument)}
    later = [_undetached(argument) for argument in call.args[1:]]
    named = [_undetached(key.value) for key in call.keywords if key.arg in _STATE_ARGUMENTS]
    return targets & {*later, *named} if _is_a_cell(call) else set()


def _undetached(argument: ast.expr) -> str:
    """`h` of `h` and of `h.detach()`."""
    return ast.unparse(argument).removesuffix(".detach()").removesuffix(".data")


def _is_a_cell(call: ast.Call) -> bool:
    """Whether what is called may be a recurrent cell: no builtin, and no function of torch, numpy or math."""
    called = ast.unparse(call.func)
    return called not in dir(builtins) and called.partition(".")[0] not in _LIBRARIES


def _unpacks(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Tuple) for target in node.targets)


def _names(node: ast.AST) -> set[str]:
    return {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}
