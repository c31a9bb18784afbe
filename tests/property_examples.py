"""How many examples a property test tries: all of them, or a tenth in `make quick`."""

import os

QUICK = os.environ.get("HYPOTHESIS_PROFILE") == "quick"


def examples(whole: int) -> int:
    """This many examples, or a tenth of them in the quick profile."""
    return max(5, whole // 10) if QUICK else whole
