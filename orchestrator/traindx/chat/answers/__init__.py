"""What is answered without a model: one file for each thing that can be asked about."""
