"""What people ask about a diagnosis, and how they say it: one table, read from the top; the first that fits wins.

A pattern is searched in the question in lower case, single-spaced, without apostrophes and quotes. `<do>` stands for
the verbs of a change, `<it>` for what is talked about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from traindx.pipeline.request.clauses import plainly
from traindx.vocabulary.shorthand import expanded

_TABLE: tuple[tuple[str, str], ...] = (
    ("bye", r"^(?:ok |and )?(?:bye|goodbye|bye bye|quit|exit|q|see you|cu|im done|thats all|good night)\W*$"),
    ("thanks", r"^(?:ok(?:ay)?,? |great,? )?(?:thanks?|thank you|thx|ty|cheers|perfect|great|cool|nice|awesome|got it"
     r"|alright|ok(?:ay)?|good|makes sense|i see|understood)\b(?! (?:but|what|why|how|where|nan))[^?]{0,40}$"),
    ("hello", r"^(?:hi|hello|hey|good (?:morning|evening|day))\b.{0,20}$|^help\W*$|what can (?:you|i) (?:do|ask)"
     r"|how (?:does|do) (?:this|you) work|who are you|what are you|what can be asked"),
    ("again", r"^(?:please |now |ok |so )*(?:diagnose|look|check|read|run|analy[sz]e|investigate)\b.{0,24}"
     r"\b(?:again|anew|once more)\b|^(?:please )?re-?(?:diagnose|read|check|run|analy[sz]e|load)\b|^again\W*$"
     r"|\bi(?: have|ve| just)*(?: now)? (?:added|put|copied|uploaded|attached|restored|fixed|updated)\b|^added\b"),
    ("fallback", r"(?:if|when|suppose) (?:<it>|that fix|your fix) (?:still )?(?:doesnt|does not|didnt|did not|wont|isnt"
     r"|fails)|(?:that|it|the fix) (?:didnt|did not|doesnt|does not) (?:help|work|change)|\bplan b\b"
     r"|(?:another|other|alternative|different) (?:fix|solution|option|way)|what if (?:that|the fix|it) fails"
     r"|already tried"),
    ("whatif", r"what if\b|what (?:happens|would happen|will happen) (?:if|when)|^(?:and |so |but )?(?:would|will|could"
     r"|does) (?!(?:<it>|your fix) (?!help (?:if|to))).{1,60}\b(?:help|fix|work|matter|suffice|be enough|solve"
     r"|make a difference)\b"
     r"|(?<!what )(?<!which )(?:should|could|can|may|must) (?:i|we) "
     r"(?:just |simply |also |rather )?<do>\b|how about\b|\bsuppose\b|^(?:and )?if (?:i|we)\b|is it enough to"
     r"|do (?:i|we) (?:need|have) to <do>\b|(?:id|i would|i will|ill|im going to|i want to|let me) (?:just )?<do>\b"),
    ("suspect", ""),
    ("restated", ""),
    ("verify", r"\bverif|how (?:do|can|will|would|should) (?:i|we) (?:know|tell|check|see|confirm|make sure|test"
     r"|be sure)(?!.*\bapart\b)|(?:did|does|has|is) (?:it|the fix) work|(?:check|test|confirm) (?:that |if |whether )?"
     r"(?:it|the fix|this)\b|make sure|how to (?:check|test|confirm)"),
    ("next", r"what (?:else )?(?:should|could|can|must|do|shall) (?:i|we) (?:log|record|track|monitor|watch|add|measure"
     r"|print|collect|provide|give you|supply|save)|what(?:s| is) missing|what (?:do|would) you (?:still )?need"
     r"|need from me|(?:what|which) (?:else|information|data|files?|logs?|evidence) (?:do|would|is|are|should)\b.{0,20}"
     r"(?:need|missing|help|add)|(?:what|whats|what is|what comes) next|next steps?"
     r"|^(?:and |so )?(?:what )?now(?: what)?\W*$|what should (?:i|we) do (?:next|now|first)|\bmonitor(?:ing)?\b"
     r"|where do i go from here|how do i continue"),
    ("figure", ""),
    ("blame", ""),
    ("others", r"what else|anything else|something else|other (?:cause|reason|hypothes|explanation|possib|candidate"
     r"|suspect|idea)|alternativ|rule[ds]? out|exclud|considered|set aside|second (?:cause|guess|opinion)|\bapart\b"
     r"|hypothes|only (?:cause|reason|explanation|problem)|more than one|just one"),
    ("effect", r"(?:would|will|does) (?:<it>|your fix) (?:help|work|suffice|be enough|solve|recover|improve)"
     r"|after (?:the|your|that|this) fix|what (?:will|would|should|does) (?:happen|i see|change|the loss|it look"
     r"|that (?:do|change|bring))|expect|how (?:will|would|should) <it>|how much (?:better|will)|outcome|\beffect\b"),
    ("fix", r"\bfix|how (?:do|can|could|should|would|to) (?:i |we |you )?(?:solve|repair|resolve|correct|avoid|prevent"
     r"|change|recover|cure|get rid|stop|address|handle|improve)|what (?:should|can|must|do|would|shall|could)"
     r" (?:i|we|you)(?: have to| need to)? (?:change|do|edit|set|try|modify|recommend|suggest|advise)|solution|remedy"
     r"|\bdiff\b|\bpatch\b|recommend|suggest|advice|from scratch|retrain|which checkpoint|start over"
     r"|what to (?:do|change)"),
    ("when", r"^(?:and |so |but )?(?:since )?when\b|(?:which|what) (?:step|epoch|iteration|point|moment|time)\b"
     r"|since when|\bonset\b|first sign|how early|where (?:does|did|do) .{1,30}"
     r"(?:start|begin|break|diverge|go wrong|jump|rise|go up)"),
    ("sure", r"how (?:sure|certain|confident|likely|reliable)|\bsure\b|confiden|certain|probab|\btrust\b|reliab"
     r"|could you be wrong|really\W*$|is that (?:right|true|correct)"),
    ("healthy", r"\bhealthy\b|(?:is|are|was|does) (?:<it>|training) (?:look )?(?:ok|okay|fine|good|normal|alright|bad"
     r"|broken|wrong|right|usable|lost|dead|looking|safe)|anything wrong|is (?:there|something)(?: anything)? wrong"
     r"|how bad|serious|severe|severity|worr(?:y|ied)|panic|should i (?:stop|continue|kill|abort)|keep it running"
     r"|let it run|can i use (?:<it>|the)|how is (?:<it>|training)"),
    ("evidence", r"\bshow\b|^(?:and )?where\b|prove|proof|evidence|how (?:do|can|did) you"
     r" (?:know|tell|see|find|conclude)|what makes you|which (?:line|file)|quot|\bcit(?:e|ation)|let me see|based on"
     r"|what did you (?:see|find|read)|according to|\bopen\b|convince me"),
    ("why", r"\bwhy\b|explain|what (?:does|do) .{1,30} mean\b|meaning of (?:that|this|it)|\bcauses?\b|\breason|how come"
     r"|what(?:s| is| was| are)? (?:this|that|it|going on|happening|wrong|up|the (?:problem|issue|matter|diagnosis"
     r"|trouble|verdict|result))|what happened|went wrong|elaborate|tell me more|more details?|summar"
     r"|dont (?:understand|get it)|in (?:other|simple|plain) words|eli5|simpl(?:er|y)"
     r"|how does (?:that|this|it) (?:happen|work|break)|\bproblem\b|remind me"),
)  # fmt: skip


@dataclass(frozen=True)
class Phrase:
    """A way of asking, and the answer it asks for; without a pattern it is recognised by what it names."""

    intent: str
    pattern: re.Pattern[str] | None


def _compiled(source: str) -> re.Pattern[str] | None:
    return re.compile(expanded(source)) if source else None


PHRASES = tuple(Phrase(intent, _compiled(source)) for intent, source in _TABLE)
"""`suspect` names a failure mode, `restated` describes symptoms, `figure` asks for a value, `blame` names a setting"""

_QUOTES = re.compile("['`\"]")

QUESTION = re.compile(
    r"^(?:and |so |but |ok |please |now )*(?:why|what|whats|which|who|when|where|how|is|are|was|were|do|does|did|can"
    r"|could|should|would|will|may|show|tell|explain|give|list|print|compare|look|find|describe|help|plot|open|read|cite"
    r"|quote|prove|summar\w+|define)\b"
)
"""how a question or a wish begins; anything else that speaks of symptoms is a description"""

GUESSING = re.compile(
    r"\b(?:is (?:it|this|that)|could (?:it|this|that)|isnt (?:it|this|that)|why not|why isnt|why is it not|what about"
    r"|is there|do you think|do i have(?! to)|does (?:it|the model|my model)|is (?:the|my)|are (?:the|my)"
    r"|have you considered|rule[ds]? out|exclud\w*|maybe|probably|perhaps|i (?:think|guess|suspect|believe)|looks like"
    r"|might|due to|because of|caused by|what is|whats|what does|explain|define|describe|tell me about|what are)\b"
)

NUMBERED = re.compile(
    r"\b(?:cause|hypothesis|number|no\.?|nr\.?|#)\s?(\d)\b|\b(second|third|other) (?:cause|one|hypothesis)\b"
)


def plain(text: str) -> str:
    """A question as the table reads it: plain like a message, and without apostrophes and quotes."""
    return _QUOTES.sub("", plainly(text)).strip()
