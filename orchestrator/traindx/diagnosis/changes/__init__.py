"""Fixes as diffs: a failure mode declares the change, the run tells where it belongs, the worker writes the patch."""
