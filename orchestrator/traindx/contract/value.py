"""The shape every value of the contract shares."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable value; an unknown key is an error. NaN and Inf survive the trip through JSON as strings."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", protected_namespaces=(), defer_build=True
    )
