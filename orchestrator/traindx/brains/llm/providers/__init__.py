"""The services that answer; one file knows one vendor."""
