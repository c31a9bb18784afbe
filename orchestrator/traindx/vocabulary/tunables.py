"""What people change about a training, by the words they have for it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Tunable:
    """One thing that can be changed."""

    name: str
    pattern: re.Pattern[str]
    """finds it in a question, and in what the catalog says"""
    keys: re.Pattern[str] | None = None
    """finds it among the settings' keys"""


def _tunable(name: str, words: str, keys: str = "") -> Tunable:
    return Tunable(name, re.compile(words, re.IGNORECASE), re.compile(keys, re.IGNORECASE) if keys else None)


TUNABLES = (
    _tunable("the learning rate", r"\blr\b|learning.?rates?|\bthe (?:peak )?rate\b|step size",
           r"\b(?:lr|learning_?rate)$"),
    _tunable("gradient clipping", r"\bclip\w*|max_norm|max norm", r"clip|max_(?:grad_)?norm"),
    _tunable("the batch size", r"\bbatch(?:es)?\b|\bbs\b|batch.?size", r"batch_?size|\bbs$"),
    _tunable("warm-up", r"\bwarm.?up\b|\bwarm(?:ing)? ", r"warm_?up"),
    _tunable("the schedule", r"\bschedul\w*|\bcosine\b|\bone.?cycle|\brestarts\b|\bstep ?lr\b|decay the (?:lr|rate)",
           r"sched"),
    _tunable("weight decay", r"weight.?decay|\bl2\b|\bwd\b|regulari[sz]\w+", r"weight_?decay|\bwd$"),
    _tunable("dropout", r"\bdropout\b|\bdrop ?out\b", r"dropout|\bp_?drop"),
    _tunable("momentum", r"\bmomentum\b|\bbetas?\b", r"momentum|beta"),
    _tunable("the optimizer", r"\boptimi[sz]er\b|\badam\w*\b|\bsgd\b|\brmsprop\b|\blion\b",
           r"optim\w*(?:\.(?:name|type))?$"),
    _tunable("the length of the run", r"\bepochs\b|train(?:ing)? (?:for )?(?:\w+ )?(?:longer|shorter)"
           r"|(?:more|fewer) (?:steps|epochs)|early stop\w*|\bstop earl\w+|\bpatience\b",
           r"epochs$|max_?steps|total_?steps"),
    _tunable("precision", r"\bfp(?:16|32)\b|\bbf(?:loat)?16\b|\bfloat(?:16|32)\b|\bamp\b|mixed.precision|half.precision"
           r"|full.precision|loss.scal\w+", r"amp|precision|fp16|bf16|dtype"),
    _tunable("the size of the model",
             r"\b(?:bigger|smaller|larger|wider|deeper) (?:model|net\w*)|\bwidth\b|hidden.?size"
           r"|more layers|fewer layers|\bcapacity\b|\bparameters\b", r"width|hidden|\b(?:n|num)_?layers|depth|d_model"),
    _tunable("normalisation", r"(?:batch|layer|group|rms).?norm\b|normali[sz]\w+", r"norm$"),
    _tunable("the activation", r"\brelu\b|\bgelu\b|\btanh\b|\bsigmoid\b|leaky|activations?\b", r"activation"),
    _tunable("initialisation", r"\binit\w*|xavier|kaiming", r"init"),
    _tunable("data", r"\bmore data\b|augment\w*|shuffl\w+|\blabels?\b|\bdataset\b|\bclean(?:er)? data",
           r"augment|shuffle"),
    _tunable("the seed", r"\bseeds?\b", r"\bseed$"),
    _tunable("the checkpoint to start from", r"\bcheckpoints?\b|from scratch|\bresum\w+|\brestart\b|start over",
           r"resume|checkpoint"),
    _tunable("the carried state", r"\bdetach\w*|\bretain_graph\b|\btruncat\w+|\bbptt\b|hidden state",
           r"bptt|seq(?:uence)?_?len"),
)  # fmt: skip
