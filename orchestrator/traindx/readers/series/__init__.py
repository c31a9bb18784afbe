"""Metrics on their way to series: names, columns, thinning, duplicates."""
