"""The monitor inside frameworks: each module here needs its framework, and is imported by name."""
