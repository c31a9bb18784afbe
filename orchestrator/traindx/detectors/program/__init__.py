"""What the program of a run says, read from its parsed code, one question per file."""
