"""What the errors that a run printed say, one question per file."""
