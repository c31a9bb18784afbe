"""What differs between two runs, each difference with how likely it is to matter and why."""

from traindx.comparison.code import code_differences
from traindx.comparison.git import git_differences
from traindx.comparison.model import Difference
from traindx.comparison.settings import setting_differences

__all__ = ["Difference", "code_differences", "git_differences", "setting_differences"]
