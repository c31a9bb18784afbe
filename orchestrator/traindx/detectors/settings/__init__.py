"""What the settings of a run say, one question per file."""
