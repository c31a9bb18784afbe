"""How the loss and its relatives move."""

from __future__ import annotations

from traindx.pipeline.request.lexicon.phrase import Phrase, phrase
from traindx.vocabulary.kinds import DEBUGGER, MONITOR

CURVES: tuple[Phrase, ...] = (
    phrase(r"\bdiverg\w*", divergence=3),
    phrase(r"<loss>~\b(?:explod\w*|blow\w*|blew|sho[ot]t\w*|shot|(?:sky)?rocket\w*|through the roof)", divergence=4),
    phrase(r"\b(?:explod\w+|blow\w* up|blew up|skyrocket\w*)~<loss>", divergence=4),
    phrase(r"\b(?:blow\w* up|blew up|blowup)\b", divergence=2),
    phrase(
        r"<loss>~\b(?:rise|rises|rising|rose|increas\w*|go(?:es|ing)? up|went up|climb\w*|grow\w*|grew"
        r"|worse\w*|jump\w* (?:up|to|from)|higher and higher|shoot\w*|huge|enormous|astronomical)",
        divergence=3,
    ),
    phrase(r"<loss>~\bjump\w*\b(?! (?:around|about|between|back|wildly|all))", divergence=2, oscillation=1),
    phrase(r"<loss>~\bspik\w*|\bspik\w*~<loss>", says="Loss spiked", divergence=2, oscillation=2),
    phrase(
        r"\b(?:fine|perfect\w*|good|ok|stable|great|well|smooth\w*|worked|works|nicely"
        r"|normal\w*)~\b(?:until|till|up to|before)~(?:\b(?:epoch|step|iter)|\d)",
        says="Training was fine at first",
        divergence=2,
    ),
    phrase(
        r"\b(?:model|network|net|run|training|everything|it)~\b(?:collaps\w*|f(?:alls?|ell) apart"
        r"|br(?:eaks?|oke) down|off the rails|derail\w*|went south|(?:goes|going|went) (?:crazy|haywire"
        r"|nuts|wild)|tank(?:s|ed)\b|killed (?:it|the|my)|forgets? everything|forgot everything|unlearn\w*|nosediv\w*)",
        says="Training collapsed",
        divergence=3,
    ),
    phrase(r"\bsudden\w*~\b(?:chance|random|garbage|zero|worse|drop\w*|fell|falls|bad)\b", divergence=3),
    phrase(
        r"<metric>~\b(?:drop\w*|fell|fall(?:s|ing)?|plung\w*|plummet\w*|crash\w*|tank\w*|decreas\w*"
        r"|go(?:es|ing)? down|went down|collaps\w*|degrad\w*|declin\w*)",
        says="A metric fell",
        divergence=4,
    ),
    phrase(r"\b(?:never|not|n't) (?:recover\w*|come\w* back)", divergence=1.5),
    phrase(
        r"\b(?:get\w*|becom\w*|going|goes) (?:worse|wrong way)|worse (?:and worse|every|each|over time)", divergence=2.5
    ),
    phrase(
        r"\b(?:oscillat\w*|jump\w* (?:around|about|between|back|up and down|wildly|all over)|bounc\w*"
        r"|zig ?zag\w*|fluctuat\w*|all over the place|up and down|back and forth|erratic\w*|wobbl\w*"
        r"|swing\w*|see-?saw\w*|spiky|chaotic\w*|yo-?yo\w*|never settles|(?:not|n't) settle)",
        oscillation=3.5,
    ),
    phrase(r"\b(?:unstable|instabilit\w*|noisy|jitter\w*|instable)\b", oscillation=2.5, divergence=1),
    phrase(r"\bplateau\w*", plateau=4),
    phrase(
        r"(?:<loss>|<metric>)~\b(?:flat\w*|stuck"
        r"|(?:stay|remain|keep)\w* (?:stable|constant|the same|around|about|between)"
        r"|stagnat\w*|stall\w*|saturat\w*|level\w* off|bottom\w* out"
        r"|stopped (?:improv|decreas|fall|go|drop)\w*|stays? (?:the same|constant)|constant)",
        plateau=3,
        not_learning=1,
    ),
    phrase(
        r"(?:<not>|\bno\b) (?:\w+ ){0,2}?(?:improve\w*|progress\w*|change\w*|mov\w*)~\b(?:in|for|since"
        r"|after|over)\b~\b(?:epoch|step|hour|iter|day|night|minute|week)",
        plateau=5,
        not_learning=1,
    ),
    phrase(r"\b(?:stuck|stagnat\w*|stall(?:s|ed|ing)?)\b", plateau=2, not_learning=1),
    phrase(
        r"\b(?:learn\w*|converg\w*|improv\w*|decreas\w*|fall\w*|goes down|going down)~\b(?:too )?slow\w*"
        r"|\bslow(?:ly)?~\b(?:converg\w*|learn\w*|progress|improv\w*|decreas\w*)",
        says="Loss falls slowly",
        plateau=4,
    ),
    phrase(
        r"<loss>~\d~~\b(?:now|to|after|still)\b~\d|<loss>[^\n]{0,20}\d\s?(?:->|=>|\u2192)\s?\d",
        says="Little change in the loss",
        plateau=1.5,
        check_up=1,
    ),
    phrase(r"\bover-?\s?fit\w*|\bmemori[sz](?:es|ing|ed)\b", overfitting=4.5),
    phrase(
        r"<val>~(?:<loss>|\berror|<metric>)~\b(?:rise|rises|rising|rose|increas\w*|go(?:es|ing)? up"
        r"|went up|climb\w*|explod\w*|grow\w*|wors\w*|much (?:higher|lower)|drop\w*|bad|poor|terrible|stuck|flat)",
        overfitting=4.5,
        evaluation=0.5,
    ),
    phrase(
        r"\btrain\w*~\b(?:good|great|perfect|9\d|100|low|excellent|near|decreas\w*|fall\w*|down|drop\w*"
        r"|improv\w*|nice)~~<val>~\b(?:bad|poor|terrible|ris\w*|rose|up|wors\w*|increas\w*|only|stuck|flat"
        r"|random|\d\d|much|not|n't)",
        overfitting=4,
    ),
    phrase(r"(?:<not>|\b(?:poor|bad)(?:ly)?) (?:\w+ ){0,2}?generali[sz]\w*", overfitting=4),
    phrase(r"\bgap~\b(?:train|val)|\b(?:train|val)~\bgap\b", overfitting=3),
    phrase(r"\bunder-?\s?fit\w*", says="The model underfits", not_learning=3),
    phrase(
        r"\bcatastrophic\w* forget\w*|\bforg[eo]t\w*~\b(?:old|previous|earlier|first|original"
        r"|pre-?train\w*)|\b(?:old|previous|first|original|base) (?:task|domain|dataset|language|class\w*"
        r"|skill\w*)~\b(?:drop\w*|wors\w*|gone|forg[eo]t\w*|fell|degrad\w*|lost)",
        forgetting=5,
    ),
)

LEARNING: tuple[Phrase, ...] = (
    phrase(r"(?:<not>) (?:\w+ ){0,3}?(?:learn\w*|converg\w*|train\w*|improv\w*|get(?:ting)? better)\b", not_learning=3),
    phrase(
        r"(?:<not>) (?:\w+ ){0,2}?(?:decreas\w*|go(?:es|ing)? down|drop\w*|fall\w*|mov\w*|budg\w*|reduc\w*"
        r"|chang\w*|com(?:e|ing) down)",
        not_learning=2.5,
        plateau=1,
    ),
    phrase(
        r"\b(?:no progress|no learning|zero progress|learn\w* (?:nothing|anything)|nothing happens)\b", not_learning=3
    ),
    phrase(
        r"\b(?:stuck|sits?|sitting|stay\w*|remain\w*|hover\w*|flat\w*|constant\w*|frozen|pinned)~(?:\bln\b"
        r"|\blog\b|\bchance\b|\brandom\b|0\.69|1\.09|1\.38|1\.60|2\.30|4\.60|6\.9\d|50 ?%|10 ?%|87\.33)",
        says="Loss sits at the level of guessing",
        not_learning=4,
    ),
    phrase(
        r"\b(?:at|by|than|like|level of|outputs?|basically|near) (?:pure |some )?(?:chance|random|guess\w*"
        r"|a coin)|\bcoin ?(?:flip|toss)|\brandom guess\w*|\bno better than\b|\bvariance of the target"
        r"|\bpredicts? the mean",
        says="No better than guessing",
        not_learning=3,
    ),
    phrase(r"<metric>~(?:is|=|at|stays?|of) ?(?:always )?(?:0(?:\.0+)?|zero)\b(?! ?%?\.?\d)", not_learning=3),
    phrase(
        r"\b(?:50|10) ?% <metric>|<metric>~\b(?:50|10) ?%", says="Accuracy at the level of guessing", not_learning=2
    ),
    phrase(
        r"<loss>~\b(?:starts?|begins?|initial\w*)\b~\d|\binitial <loss>",
        says="Unusual loss at the start",
        not_learning=1.5,
    ),
    phrase(r"<loss>~(?:is|at|=|exactly|of)\s?(?:exactly )?(?:0(?:\.0+)?|zero)\b(?!\.)", evaluation=2, not_learning=1.5),
    phrase(
        r"\b(?:weights?|params?|parameters)~(?:<not>) (?:\w+ ){0,2}?(?:chang\w*|updat\w*|mov\w*)",
        training_code=3,
        not_learning=2,
    ),
    phrase(r"<loss>~\bnegative\b|\bnegative <loss>", says="Loss is negative", training_code=3),
)

GRADIENTS: tuple[Phrase, ...] = (
    phrase(
        r"\bgrad\w*~\b(?:explod\w*|explosion|blow\w*|blew|huge|enormous|spik\w*|skyrocket\w*|massive"
        r"|grow\w*|shoot\w*|(?:very|too|extremely) (?:large|big|high)|jump\w*|1e\+?[3-9])|\bexplo(?:d\w+"
        r"|sion)~\bgrad\w*",
        exploding_gradients=4.5,
    ),
    phrase(r"\bexplod\w+", exploding_gradients=1.5, divergence=1.5),
    phrase(
        r"\bgrad\w*~\b(?:vanish\w*|zero|tiny|disappear\w*|dying|dies?|1e-\d+|(?:very|too"
        r"|extremely) (?:small|low))|\bvanish\w*~\bgrad\w*|\bgrad\w*~[= ]0(?:\.0+)?(?![.\d])|\b(?:zero"
        r"|tiny|dead) grad\w*",
        vanishing_gradients=4.5,
    ),
    phrase(r"\bvanish\w*", vanishing_gradients=2),
    phrase(r"\b(?:dead|dying) (?:relu|neuron|unit)s?", {DEBUGGER: 2}, says="Units are dead", vanishing_gradients=3),
    phrase(r"\bnans?\b|\bnot a number\b|\bnon-?finite\b", non_finite=4),
    phrase(r"\b[+-]?inf(?:inity|s|inite)?\b|\boverflow\w*|\bunderflow\w*|\bloss scale\b", non_finite=3),
    phrase(r"\bgrad\w*~\b(?:nans?|inf)\b|\b(?:nans?|inf)\b~\bgrad\w*", {MONITOR: 3}, exploding_gradients=1),
    phrase(r"\b87\.33", says="Loss sits at -ln of the smallest float", non_finite=3),
    phrase(r"\b(?:amp|fp16|float16|half precision|mixed precision|bf16|bfloat16|gradscaler)\b", non_finite=0.5),
    phrase(
        r"\bvar\(\)~\bdegrees of freedom|\bdegrees of freedom is <= ?0",
        {DEBUGGER: 3},
        says="A variance over too few values",
        non_finite=3,
        data=0.5,
    ),
)
