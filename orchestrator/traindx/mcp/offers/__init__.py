"""What the server offers by default: one file each, found by scanning this folder."""
