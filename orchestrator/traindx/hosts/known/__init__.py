"""The hosts that `traindx setup` knows: one file each, found by scanning this folder."""
