"""What differs between two runs, each difference with how likely it is to matter and why."""

from traindx.detectors.comparison.code import code_differences
from traindx.detectors.comparison.difference import Difference, by_suspicion
from traindx.detectors.comparison.settings import setting_differences
from traindx.detectors.comparison.states import git_differences

__all__ = ["Difference", "by_suspicion", "code_differences", "git_differences", "setting_differences"]
