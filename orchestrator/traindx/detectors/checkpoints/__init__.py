"""What checkpoints alone say, one question per file."""
