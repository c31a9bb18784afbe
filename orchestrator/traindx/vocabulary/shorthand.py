"""The shorthand that tables of phrases are written in, for messages and for questions in the chat alike.

`~` is a short gap within a clause, `~~` a longer one within a sentence; words in angle brackets stand for the
alternatives below. Gaps are bounded and no quantifier is nested in another, so a search takes linear time.
"""

from __future__ import annotations

WITHIN, AFTER = "\x1e", "\n"
"""between the clauses of a sentence, and between sentences"""

SHORTHAND = {
    "~~": f"[^{AFTER}]{{0,60}}?",
    "~": f"[^{AFTER}{WITHIN}]{{0,40}}?",
    "<loss>": r"\b(?:\w{1,12}[_/])?(?:loss(?:es)?|lose|perplexity|ppl|m[sa]e|rmse|cost|nll|elbo|bpc|cross.?entropy)\b",
    "<metric>": r"\b(?:accurac(?:y|ies)|acc|f1|auc|reward|returns?|score|metrics?|map|m?iou|bleu|rouge|dice|psnr)\b",
    "<val>": r"\b(?:val(?:idation)?|test|dev|eval(?:uation)?|held.?out)\b",
    "<not>": r"\b(?:not|never|no longer|barely|hardly|nothing|fail(?:s|ed|ing)? to|refus(?:es|ed) to|unable to|cannot|"
    r"can'?t|won'?t|wont|\w{2,6}n't|doesnt|dosent|dosnt|doesn|isnt|dont|didnt|hasnt|havent|aint|stop(?:s|ped))\b",
    "<do>": r"(?:use|try|lower|raise|increase|decrease|reduce|halve|double|triple|add|remove|drop|switch|turn|set|clip"
    r"|change|train|disable|enable|make|go|cut|divide|multiply|put|keep|freeze|warm|normali[sz]e|restart|resume"
    r"|shuffle|augment|decay)",
    "<it>": r"(?:it|that|this|these|those|the (?:run|loss|training|model|fix|problem|issue|curve|diagnosis)"
    r"|my (?:run|model|training|loss)|everything|things)",
}


def expanded(pattern: str) -> str:
    """The regular expression that a phrase stands for."""
    for short, full in SHORTHAND.items():
        pattern = pattern.replace(short, full)
    return pattern
