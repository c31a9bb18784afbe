"""Compiled code for what is read by the million; numpy does the same where there is none."""
