"""One request, from paths and a message to a diagnosis."""
