"""What can be wrong and how sure one may be: failure modes, signals, scoring, the check of evidence, the answer."""
