"""How a fix is checked on a new run: declared by the failure mode, filled in with the facts of the broken run."""
