"""The machine and its packages: versions that do not fit each other, accelerators that are not used."""
