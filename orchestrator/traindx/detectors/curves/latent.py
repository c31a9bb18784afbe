"""A latent-variable model whose latent says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, cite_setting
from traindx.detectors.curves.metric_names import ends, words_without_digits
from traindx.detectors.settings.lookup import named
from traindx.readers.model import Series, Setting

SIGNALS = {"kl-near-zero": "the KL term of a latent-variable model is (nearly) zero at the end"}

KL_WORDS = {"kl", "kld", "kldiv", "rate"}
_OF_A_RATE = {"train", "val", "valid", "validation", "test", "eval", "loss", "term", "mean", "avg"}
"""what may stand beside the rate of a rate and a distortion; any other is a learning rate, an error rate"""
# A KL term of a hundredth of a nat, or below a thousandth of the reconstruction, tells the decoder nothing.
NO_INFORMATION = 0.05
_RECONSTRUCTIONS = {"rec", "recon", "reconstruction", "nll", "elbo", "ll", "likelihood", "negll", "bce", "mse", "ce"}
KL_WEIGHTS = ("beta", "kl_weight", "kl_coef", "lambda_kl", "kl_lambda", "kld_weight", "beta_kl")


def detect(series: Sequence[Series], settings: Sequence[Setting], reductions: Sequence[Citation] = ()) -> list[Signal]:
    """A KL term of nearly zero beside a reconstruction; `reductions` are lines that say how the two are reduced."""
    weights = {"weight", "beta", "coef", "coeff", "anneal", "target", "penalty"}
    for row in series:
        words = words_without_digits(row)
        if not words & KL_WORDS or words & (weights | {"policy", "approx", "ref", "teacher", "distill"}):
            continue
        if words & KL_WORDS == {"rate"} and words - _OF_A_RATE - {"rate"}:
            continue
        end = ends(row)[1]
        others = [
            ends(other)[1]
            for other in series
            if _RECONSTRUCTIONS & words_without_digits(other) and not words_without_digits(other) & KL_WORDS
        ]
        scale = max((abs(value) for value in others), default=0.0)
        if not others or end < 0 or end > max(NO_INFORMATION, 1e-3 * scale):
            continue
        claim = f"`{row.original}` ends at {end:.3g} beside a reconstruction term of {scale:.4g}: the latent is unused"
        facts: dict[str, Fact] = {"kl_end": end, "kl_series": row.original}
        places = [cite(row, len(row) - 1, claim)]
        weight = named(settings, *KL_WEIGHTS)
        if weight is not None and float(weight.value) > 0:
            places.append(cite_setting(weight, f"the weight of the KL term: {weight.value:g}"))
        places += reductions
        return [Signal(id="kl-near-zero", claim=claim, citations=places, facts=facts)]
    return []
