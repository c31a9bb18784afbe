"""Text logs: lines, their forms, the numbers in them, and the errors they print."""
