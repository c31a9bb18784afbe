"""Blocks of a log read at once: lines grouped by form, digits turned into numbers column by column."""
