"""Keywords of the Python API: a misspelt one is refused at the call, before anything is opened or sent."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from traindx import TraindxError, adiagnose, diagnose, open_session, stream
from traindx.api import gather_context, what_leaves

NOWHERE = Path("/nowhere/at/all")
CALLS: list[Callable[..., Any]] = [diagnose, adiagnose, stream, open_session, what_leaves, gather_context]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_an_unknown_keyword_is_a_type_error_with_the_nearest_name(call: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"there is no keyword `brian`. Did you mean `brain`\?"):
        call(NOWHERE, brian="local")
    with pytest.raises(TypeError, match="there is no keyword `zzz`"):
        call(NOWHERE, zzz=1)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"brain": "locl"}, "Did you mean `local`"),
        ({"effort": "hihg"}, "Did you mean `high`"),
        ({"specialists": "al"}, "Did you mean `all`"),
        ({"max_usd": -1}, "0 or more"),
        ({"max_usd": float("nan")}, "0 or more"),
        ({"max_seconds": "300"}, "0 or more"),
        ({"max_input": True}, "0 or more"),
    ],
)
def test_a_value_that_can_mean_nothing_is_refused_at_the_call(
    call: Callable[..., Any], given: dict[str, Any], said: str
) -> None:
    with pytest.raises(TraindxError, match=said):
        call(NOWHERE, **given)


def test_known_keywords_go_through() -> None:
    with pytest.raises(TraindxError, match="no such file or folder"):
        diagnose(NOWHERE, brain="local", max_usd=0, max_seconds=1.5, effort=None, max_input=None)
