"""What one can turn about a training: how people call it, and under which keys it is configured."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Lever:
    """One thing that can be changed."""

    name: str
    pattern: re.Pattern[str]
    """finds it in a question, and in what the catalog says"""
    keys: re.Pattern[str] | None = None
    """finds it among the settings' keys"""


def _lever(name: str, words: str, keys: str = "") -> Lever:
    return Lever(name, re.compile(words, re.IGNORECASE), re.compile(keys, re.IGNORECASE) if keys else None)


LEVERS = (
    _lever("the learning rate", r"\blr\b|learning.?rates?|\bthe (?:peak )?rate\b|step size",
           r"\b(?:lr|learning_?rate)$"),
    _lever("gradient clipping", r"\bclip\w*|max_norm|max norm", r"clip|max_(?:grad_)?norm"),
    _lever("the batch size", r"\bbatch(?:es)?\b|\bbs\b|batch.?size", r"batch_?size|\bbs$"),
    _lever("warm-up", r"\bwarm.?up\b|\bwarm(?:ing)? ", r"warm_?up"),
    _lever("the schedule", r"\bschedul\w*|\bcosine\b|\bone.?cycle|\brestarts\b|\bstep ?lr\b|decay the (?:lr|rate)",
           r"sched"),
    _lever("weight decay", r"weight.?decay|\bl2\b|\bwd\b|regulari[sz]\w+", r"weight_?decay|\bwd$"),
    _lever("dropout", r"\bdropout\b|\bdrop ?out\b", r"dropout|\bp_?drop"),
    _lever("momentum", r"\bmomentum\b|\bbetas?\b", r"momentum|beta"),
    _lever("the optimizer", r"\boptimi[sz]er\b|\badam\w*\b|\bsgd\b|\brmsprop\b|\blion\b",
           r"optim\w*(?:\.(?:name|type))?$"),
    _lever("the length of the run", r"\bepochs\b|train(?:ing)? (?:for )?(?:\w+ )?(?:longer|shorter)"
           r"|(?:more|fewer) (?:steps|epochs)|early stop\w*|\bstop earl\w+|\bpatience\b",
           r"epochs$|max_?steps|total_?steps"),
    _lever("precision", r"\bfp(?:16|32)\b|\bbf(?:loat)?16\b|\bfloat(?:16|32)\b|\bamp\b|mixed.precision|half.precision"
           r"|full.precision|loss.scal\w+", r"amp|precision|fp16|bf16|dtype"),
    _lever("the size of the model", r"\b(?:bigger|smaller|larger|wider|deeper) (?:model|net\w*)|\bwidth\b|hidden.?size"
           r"|more layers|fewer layers|\bcapacity\b|\bparameters\b", r"width|hidden|\b(?:n|num)_?layers|depth|d_model"),
    _lever("normalisation", r"(?:batch|layer|group|rms).?norm\b|normali[sz]\w+", r"norm$"),
    _lever("the activation", r"\brelu\b|\bgelu\b|\btanh\b|\bsigmoid\b|leaky|activations?\b", r"activation"),
    _lever("initialisation", r"\binit\w*|xavier|kaiming", r"init"),
    _lever("data", r"\bmore data\b|augment\w*|shuffl\w+|\blabels?\b|\bdataset\b|\bclean(?:er)? data",
           r"augment|shuffle"),
    _lever("the seed", r"\bseeds?\b", r"\bseed$"),
    _lever("the checkpoint to start from", r"\bcheckpoints?\b|from scratch|\bresum\w+|\brestart\b|start over",
           r"resume|checkpoint"),
    _lever("the carried state", r"\bdetach\w*|\bretain_graph\b|\btruncat\w+|\bbptt\b|hidden state",
           r"bptt|seq(?:uence)?_?len"),
)  # fmt: skip
