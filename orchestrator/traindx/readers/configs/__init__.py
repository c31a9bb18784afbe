"""The notations that configurations are written in, one reader each."""
