"""Measuring ourselves: labelled cases in, accuracy, false alarms and calibration out."""

from traindx.evaluation.case import LabelledCase, find_cases, open_cases
from traindx.evaluation.score import Outcome, Scorecard, score
from traindx.evaluation.trial import evaluate

__all__ = ["LabelledCase", "Outcome", "Scorecard", "evaluate", "find_cases", "open_cases", "score"]
