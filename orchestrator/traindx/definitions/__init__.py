"""Definitions that are files: where content lives, how front matter is read, what a project brings along."""
