"""What probes are made of: how one is declared, what it hears of a training, and the child that runs a script."""
