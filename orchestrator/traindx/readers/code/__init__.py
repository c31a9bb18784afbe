"""The program of a run: Python files and notebooks, their roles and settings, the commit they came from."""
