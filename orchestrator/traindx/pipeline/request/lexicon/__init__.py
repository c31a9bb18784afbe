"""The words people use for trouble in training, as a table of weighted patterns."""

from __future__ import annotations

import re

from traindx.pipeline.request.lexicon.curves import CURVES, GRADIENTS, LEARNING
from traindx.pipeline.request.lexicon.loop import LOOP
from traindx.pipeline.request.lexicon.machine import CRASHES, MEMORY
from traindx.pipeline.request.lexicon.model import OUTPUTS, STATE_WORDS
from traindx.pipeline.request.lexicon.phrase import Phrase
from traindx.pipeline.request.lexicon.wishes import ELSEWHERE, WISHES

__all__ = ["PHRASES", "TRADE", "VAGUE", "Phrase"]

PHRASES: tuple[Phrase, ...] = (
    *CURVES, *LEARNING, *GRADIENTS, *OUTPUTS, *STATE_WORDS, *MEMORY, *CRASHES, *LOOP, *WISHES, *ELSEWHERE,
)  # fmt: skip

TRADE = re.compile(
    r"\b(?:train\w*|loss|losses|epochs?|models?|networks?|grad\w*|lr|learning rate|gpus?|cuda|tensors?|checkpoints?"
    r"|batch\w*|datasets?|torch|pytorch|tensorflow|keras|jax|lightning|hugging ?face|accuracy|validation|overfit\w*"
    r"|transformer\w*|lstm|gru|rnn|cnn|gan|vae|llm|bert|gpt|optimi[sz]er|adamw?|sgd|weights?|layers?|neural"
    r"|fine-?tun\w*|runs?|logs?|curves?|steps?|iterations?|metrics?|config|hyper-?param\w*|nan|oom|nccl|slurm|wandb"
    r"|tensorboard|nets?|predict\w*|class(?:es)?|labels?|param\w*|embedding\w*|\w*encoder|backbone|yolo\w*"
    r"|resnet\w*|mnist|cifar\w*|imagenet|m?ap|images?|samples?)\b"
)
"""words that place a message in the trade without saying what is wrong"""

VAGUE = re.compile(
    r"\b(?:help\w*|broken?|breaks?|wrong|problem\w*|issues?|bugs?|weird|strange|odd|stuck|fail\w*|debug\w*"
    r"|diagnos\w*|fix\w*|why|hello|hi|hey|test|idea|(?:not|n't|doesnt|dont) work\w*|it|this|that|thing|look|check"
    r"|again|now|still|off)\b"
)
"""words of someone who wants help and does not say with what"""
