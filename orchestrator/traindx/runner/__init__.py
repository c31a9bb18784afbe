"""`traindx run`: a command is started unchanged, and what it leaves behind is kept for a diagnosis."""

from traindx.runner.command import Options, Outcome, carry_out

__all__ = ["Options", "Outcome", "carry_out"]
