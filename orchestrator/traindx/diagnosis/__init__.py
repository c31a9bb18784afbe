"""The diagnosis: what the specialists found, merged, ranked and put into the contract."""

from traindx.diagnosis.merge import conclude, out_of_field

__all__ = ["conclude", "out_of_field"]
