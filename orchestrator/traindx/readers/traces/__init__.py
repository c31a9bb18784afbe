"""What machines and processes were doing: flight recorders, stacks of all ranks."""
