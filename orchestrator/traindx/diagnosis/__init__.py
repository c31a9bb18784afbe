"""The diagnosis: what the specialists found, merged, ranked and put into the contract."""

from traindx.diagnosis.merge import conclude, out_of_field, several_runs

__all__ = ["conclude", "out_of_field", "several_runs"]
