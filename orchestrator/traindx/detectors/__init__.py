"""Detectors: values in, signals with citations out. One file is one question."""
