"""The vectors that the Rust client passes, too (`tests/data`)."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT
from countersign import NotCanonical, action_digest, agent_action, canonical, http_action, tool_action

VECTORS = json.loads((ROOT / "tests/data/action-vectors.json").read_text())["vectors"]
MAKERS = {"agent": agent_action, "tool": tool_action, "http": http_action}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_an_action_has_the_canonical_form_and_digest_of_its_vector(vector: dict) -> None:
    members = {name: value for name, value in vector["object"].items() if name not in ("v", "kind")}
    action = MAKERS[vector["object"]["kind"]](**members)
    assert action == vector["object"]
    assert canonical(action).decode() == vector["canonical"]
    assert action_digest(action) == vector["sha256"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-1.7976931348623157e308, "-1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (333333333.3333332, "333333333.3333332"),
        (1.5e300, "1.5e+300"),
        (100.0, "100"),
        (19.9, "19.9"),
        ('\u20ac$\u000f\nA\'B"\\\\"/\u007f', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/\x7f"'),
        ({"\ufb33": 1, "\U0001f600": 2, "b": [], "a": {}}, '{"a":{},"b":[],"\U0001f600":2,"\ufb33":1}'),
    ],
)
def test_values_are_written_as_rfc_8785_writes_them(value: object, text: str) -> None:
    assert canonical(value).decode() == text


@pytest.mark.parametrize("value", [2**53, float("nan"), float("inf"), {1: 2}, {"a": object()}, "\ud800", b"bytes"])
def test_what_has_no_canonical_form_is_refused_before_anybody_is_asked(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)
