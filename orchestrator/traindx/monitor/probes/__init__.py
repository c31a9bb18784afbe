"""Probes: short experiments on a model or a training script that settle what a diagnosis leaves open."""
