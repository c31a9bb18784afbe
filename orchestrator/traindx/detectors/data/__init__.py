"""What the data of a run looks like, one question per file."""
