"""Whether a fix worked: its checks, held against a run that was made with it."""
