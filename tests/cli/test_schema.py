"""`traindx schema`: the JSON Schemas describe what is printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from traindx.cli import main
from traindx.contract import ContextPackage, Diagnosis


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(list(words)) == 0
    return json.loads(capsys.readouterr().out)


def test_one_schema_or_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    every = printed(capsys, "schema")
    assert list(every) == ["diagnosis", "context", "event", "verification"]
    for name, schema in every.items():
        assert printed(capsys, "schema", name) == schema
        assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(every["diagnosis"]["properties"]) == set(Diagnosis.model_fields)
    assert set(every["context"]["properties"]) == set(ContextPackage.model_fields)


def test_a_number_that_is_none_is_a_word_in_the_schema_too(capsys: pytest.CaptureFixture[str]) -> None:
    schema = printed(capsys, "schema", "context")
    last = schema["$defs"]["SeriesSummary"]["properties"]["last"]
    assert {"enum": ["NaN", "Infinity", "-Infinity"]} in last["anyOf"]
    confidence = printed(capsys, "schema", "diagnosis")["$defs"]["RootCause"]["properties"]["confidence"]
    assert (confidence["type"], confidence["maximum"]) == ("number", 1.0)


@pytest.mark.slow
def test_what_is_printed_fits_its_schema(capsys: pytest.CaptureFixture[str], broken_run: Path) -> None:
    for name, words in (("diagnosis", ["diagnose", str(broken_run)]), ("context", ["gather", str(broken_run)])):
        schema = printed(capsys, "schema", name)
        check(printed(capsys, *words, "--json", "-q"), schema, schema["$defs"])


def check(value: Any, schema: dict[str, Any], known: dict[str, Any]) -> None:
    """The part of JSON Schema that ours are written in."""
    if "$ref" in schema:
        check(value, known[schema["$ref"].removeprefix("#/$defs/")], known)
    elif "anyOf" in schema:
        assert any(fits(value, option, known) for option in schema["anyOf"]), (value, schema)
    elif "enum" in schema or "const" in schema:
        assert value in schema.get("enum", [schema.get("const")])
    elif schema.get("type") == "object":
        assert isinstance(value, dict)
        assert set(schema.get("required", [])) <= set(value)
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is False:
            assert set(value) <= set(properties)
        for key, item in value.items():
            check(item, properties.get(key, {}), known)
    elif schema.get("type") == "array":
        assert isinstance(value, list)
        for item in value:
            check(item, schema.get("items", {}), known)
    elif "type" in schema:
        kinds: dict[str, Any] = {
            "string": str,
            "integer": int,
            "number": (int, float),
            "boolean": bool,
            "null": type(None),
        }
        assert isinstance(value, kinds[schema["type"]]), (value, schema)


def fits(value: Any, schema: dict[str, Any], known: dict[str, Any]) -> bool:
    try:
        check(value, schema, known)
    except AssertionError:
        return False
    return True
