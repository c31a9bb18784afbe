"""`traindx run`: a command is started unchanged, and what it leaves behind is kept for a diagnosis."""
