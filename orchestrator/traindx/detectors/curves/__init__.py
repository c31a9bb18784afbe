"""What the shape of a curve says, one question per file."""
