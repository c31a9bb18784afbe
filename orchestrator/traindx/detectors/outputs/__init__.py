"""What a model puts out: whether it varies, one question per file."""
