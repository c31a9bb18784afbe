"""The folder itself: what may be read, which files there are, what each of them is."""
