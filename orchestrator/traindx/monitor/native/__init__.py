"""Compiled code for what is measured at every step; torch does the same where there is none."""
