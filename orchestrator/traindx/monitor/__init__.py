"""What a training run can tell of itself: telemetry for the user's own script, and probes that settle a question."""
