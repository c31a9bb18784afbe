"""What a message says of the results themselves: bad in use, no better than something simpler, the same for everything.

Curves do not refute such a report. People who only worry about a curve rarely make one.
"""

from __future__ import annotations

import re

from traindx.pipeline.request.clauses import excerpt

_POOR = (
    r"(?:poor(?:ly)?|bad(?:ly)?|empty|useless|garbage|nonsense|gibberish|rubbish|terribl[ey]|awful|worthless|wrong|worse"
    r"|blank|black|nothing|near nothing|fails?|failed|noise|stupid|random|alike|no better|identical)"
)
_GOOD = (
    r"(?:great|good|fine|perfect(?:ly)?|low|nice(?:ly)?|balanced|ok|converge[sd]|0\.\d+|1\.00?|\d\d(?:\.\d+)?\s?(?:%|percent)"
    r"|works?(?: now)?|goes down|falls)"
)
_AFIELD = (
    r"(?:new|real|unseen|fresh|live|other people'?s|our own) (?:\w+|[\w-]+ \w+)|production|deployment|the field"
    r"|practice|the leaderboard|kaggle"
)
_WHO = (
    r"(?:users?|customers?|clients?|marketing|doctors?|annotators?|players?|listeners?|operators?|chemists?|editors?)"
)
_THING = r"(?:outputs?|predict(?:s|ions?)?|samples?|answers?|forecasts?|generat\w+|reconstructions?|translations?)"
_SO_FAR = r"[^.?!\n]*"
"""within the sentence"""

_REPORTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # It looks good, but in truth it is not.
        rf"\b{_GOOD}(?!\w)[^?!\n]{{0,150}}?\b(?:but|yet|however|still|although|though)\b{_SO_FAR}\b(?:{_POOR}|complain\w*|never)\b",
        rf"\b(?:on|with|for|in) (?:{_AFIELD})\b{_SO_FAR}\b{_POOR}\b",
        rf"\b{_POOR}\b{_SO_FAR}\b(?:on|in|with) (?:{_AFIELD})\b",
        rf"\b{_WHO} (?:complain|report|say (?:it|that|the)|see|get|find)\b",
        # It is no better than what is simpler, or than it was.
        r"\b(?:no|not|n't|hardly|barely|never) (?:any )?better than\b",
        r"\b(?:worse|less \w+|lower \w+|weaker|poorer) (?:\w+ ){0,3}than"
        r" (?:random|chance|guessing|before|without|baseline|one\b|a single|linear|logistic|copying|just |predicting)",
        r"\b(?:as (?:long|slow|bad|poor) as|exactly the (?:same|quality))\b",
        rf"\b{_THING}\b{_SO_FAR} (?:same|identical|alike)\b{_SO_FAR}\b(?:every|all|each|any|whatever|always)\b",
        r"\b(?:predicts?|outputs?|answers?|generates?)\b (?:\w+ )?the same\b",
        rf"\basked for\b{_SO_FAR}\bgets?\b",
        rf"\b(?:all|the) {_THING} (?:look|are|is) (?:all )?(?:the )?(?:same|alike|{_POOR})\b",
    )
]


def bad_result(message: str) -> str:
    """The sentence that reports a bad result; empty where there is none."""
    text = excerpt(message)
    found = min(
        (match for one in _REPORTS if (match := one.search(text))), key=lambda match: match.start(), default=None
    )
    if found is None:
        return ""
    begins = max(text.rfind(mark, 0, found.start()) for mark in ".?!\n") + 1
    ends = min((at for mark in ".?!\n" if (at := text.find(mark, found.end())) >= 0), default=len(text))
    return " ".join(text[begins:ends].split())
