"""What the shape of a curve says: robust, scale-free statistics that the analysis tools share."""

from traindx.curves.layers import by_layer, level
from traindx.curves.listing import listed_gradients
from traindx.curves.loss import main_loss, validation_of
from traindx.curves.objective import Objective, adversaries, is_reward, measured, objective, words_of
from traindx.curves.place import cite, moment, nearest_index, quoted, where
from traindx.curves.schedule import stalled_from, warms_up
from traindx.curves.settings import also_set, cite_setting, clip_threshold, is_number, named, optimizer, rates
from traindx.curves.shape import Shape, shape_of
from traindx.curves.summary import summarise

__all__ = [
    "Objective",
    "Shape",
    "adversaries",
    "also_set",
    "by_layer",
    "cite",
    "cite_setting",
    "clip_threshold",
    "is_number",
    "is_reward",
    "level",
    "listed_gradients",
    "main_loss",
    "measured",
    "moment",
    "named",
    "nearest_index",
    "objective",
    "optimizer",
    "quoted",
    "rates",
    "shape_of",
    "stalled_from",
    "summarise",
    "validation_of",
    "warms_up",
    "where",
    "words_of",
]
