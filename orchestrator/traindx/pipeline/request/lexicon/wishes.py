"""What people ask for: a setting, a review, a check, or something that is not ours."""

from __future__ import annotations

from traindx.pipeline.request.lexicon.phrase import Phrase, phrase
from traindx.vocabulary.kinds import MONITOR

WISHES: tuple[Phrase, ...] = (
    phrase(
        r"\b(?:lr|learning rate|step size)~\b(?:too (?:high|low|big|small|large)|wrong|off)",
        cause=True,
        hyperparameters=3,
    ),
    phrase(
        r"\b(?:batch ?size|dropout|weight decay|warm-?up|model|network|hidden size|capacity)~\btoo (?:high"
        r"|low|big|small|large|weak|deep|long|short)",
        cause=True,
        hyperparameters=2.5,
    ),
    phrase(
        r"\b(?:what|which|best|good|right|optimal|suggest\w*|recommend\w*|choose|pick|tun(?:e|ing)|change"
        r"|lower|raise)\b~\b(?:learning rate|lr|batch ?size|hyper-?\s?param\w*|weight decay|optimi[sz]er"
        r"|hidden size|dropout|warm-?up|schedule)",
        asks=True,
        hyperparameters=3,
    ),
    phrase(r"\b(?:missing|no|without)~\bwarm-?up|\bwarm-?up~\bmissing", cause=True, hyperparameters=3),
    phrase(r"\bhyper-?\s?param\w*|\blearning rate\b|\blr\b|\bbatch ?size\b", {MONITOR: 0.5}, hyperparameters=0.8),
    phrase(
        r"\bpair of eyes|\breview\w*|\bsanity[ -]?check\w*|\blook over\b|\bdouble[ -]?check|\bbefore (?:i "
        r"|we )?(?:start|launch|kick|submit|train|run|burn|spend)\w*|\babout to (?:start|launch|train"
        r"|submit|kick)|\banything (?:wrong|off|missing|suspicious)|\bspot (?:any|the)\b",
        asks=True,
        review=3.5,
    ),
    phrase(
        r"\b(?:is|are|does|do|did|if)~\b(?:code|loop|set-?up|config\w*|implement\w*|script|handling"
        r"|pipeline|architecture|handled)~\b(?:ok|okay|correct\w*|right\w*|fine|good|sound|sensible"
        r"|make sense)\b",
        asks=True,
        review=3.5,
    ),
    phrase(
        r"\bhere(?:'s| is| are|s)? (?:is )?my (?:\w+ )?(?:training|train|loop|code|implement\w*|script"
        r"|pipeline|trainer|config)|\b(?:did|have) i (?:implement|got?|do|wire)\w*|\bfeedback on\b"
        r"|\bwhat do you think of my",
        asks=True,
        review=3.5,
    ),
    phrase(
        r"\b(?:is|are|was)~\b(?:ok|okay|good|normal|fine|healthy|alright|all right|expected|reasonable"
        r"|enough|as it should)\b",
        asks=True,
        check_up=3,
    ),
    phrase(
        r"\blooks? (?:\w+ )?(?:ok|okay|good|normal|fine|healthy|alright|all right|right|reasonable"
        r"|plausible)\b",
        asks=True,
        check_up=3,
    ),
    phrase(
        r"\bhow(?: is|'s| does| did| are)~\b(?:run|training|it|curve|things)~\b(?:going|look\w*|doing|go"
        r"|coming)",
        asks=True,
        check_up=3,
    ),
    phrase(
        r"\bhealth[ -]?check|\bcheck[ -]?up|\bcheck (?:the|this|my|on) (?:\w+ )?(?:run|training|curves?"
        r"|log|results?)|\bon track\b|\bshould i (?:stop|worry|keep|continue|be)|\bplease check"
        r"|\bjust checking|\bhealthy\b|\beverything (?:fine|ok|okay|good|alright)|\ball good\b|\bwhen to stop\b"
        r"|\bwhat do you (?:make|think) of\b",
        asks=True,
        check_up=3,
    ),
    phrase(
        r"\b(?:ok|okay|ready|safe|good|fit) (?:enough )?(?:to|for) (?:deploy|ship|use|submit|release|production)",
        asks=True,
        check_up=3,
    ),
    phrase(
        r"\b(?:finished|completed|works? (?:now|again)|(?:is|it's|got) fixed|done training)\b", asks=True, check_up=1.5
    ),
)

_PLEASE = (
    r"(?:^|[\n\x1e])\W*(?:(?:please|can you|could you|would you|i want you to|i need you to|help me|pls|hey"
    r"|i'd like you to|let's) ){0,3}"
)
_MAKE = r"(?:build|create|make|write|code|design|implement|develop|generate|draw|compose)"

ELSEWHERE: tuple[Phrase, ...] = (
    phrase(
        _PLEASE + _MAKE + r" (?:me |us )?(?:an? |some |the |my )?(?:\w+ ){0,3}?(?:poem|story|song|essay|e-?mail|letter"
        r"|haiku|joke|website|web ?page|app|game|logo|picture|sql|query|resume|cv|blog|tweet|chatbot|api|function"
        r"|regex|readme|unit tests?|dashboard|speech|recipe|report)\b",
        asks=True,
        not_about_training=6,
    ),
    phrase(
        _PLEASE + r"(?:train|fine-?tune|" + _MAKE + r") (?:me |us )?an? (?:\w+ ){0,4}?(?:models?|network|classifier|gan"
        r"|llm|transformer|training (?:script|loop)|detector|agent)\b",
        asks=True,
        not_about_training=4.5,
    ),
    phrase(
        r"(?<!to )\bdeploy\w*|\b(?:serv(?:e|ing)|host(?:ing)?)\b~\b(?:model|production|aws|api|endpoint)"
        r"|\bkubernetes|\bterraform|\bdifference between\b|\bshould i buy\b|\bwho are you\b|\bwhat can you do\b",
        asks=True,
        not_about_training=3.5,
    ),
    # A model may be about any of these; who asks for one of them does not speak of a run.
    phrase(
        r"\btranslate (?:this|the following|it)\b"
        r"|(?:^|[\n.?!])\W*(?:(?:please|can|could|would|will|you|hey|pls) ){0,3}"
        r"(?:what|who|when|where|how (?:do|can|to|much)|which|tell|give|show|find|book|recommend|suggest|is there"
        r"|do you|translate|help|fix|write|make|i (?:want|need))\b[^\n.?!]{0,60}?"
        r"(?:\bweather\b|\brecipes?\b|\bcss\b|\bhtml\b|\breact\b|\bjavascript|\bjokes?\b|\bcapital of\b|\btranslate\b"
        r"|\bflights?\b|\bstock (?:price|market)|\bhoroscope|\bfootball|\bmovies?\b|\bmeaning of life|\bpoems?\b"
        r"|\bexcel\b|\bpowerpoint|\bwordpress|\bhomework\b|\bbirthday|\bholiday|\bvacation|\brestaurant)",
        asks=True,
        not_about_training=3.5,
    ),
    phrase(
        _PLEASE + r"(?:explain|what is|what are|what's|who is|who was|who won|define|tell me about|summari[sz]e"
        r"|recommend an?|teach me|translate)\b"
        r"(?! (?:wrong|the matter|up|going|happen|off|broken|causing|this|that|it|my|your|best))",
        asks=True,
        not_about_training=1.5,
    ),
)
