"""The package as users get it: the wheel, its types, and the README's first lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from conftest import ROOT, Stage, in_background
from countersign._codes import STATUS

PACKAGE = Path(__file__).resolve().parents[1]


def runs(*command: str, cwd: Path = PACKAGE, **environment: str) -> str:
    ran = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=180, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def program() -> str:
    """The README's first lines."""
    return (PACKAGE / "README.md").read_text().split("```python\n")[1].split("```")[0]


def test_the_readmes_first_lines_run_from_the_built_wheel(stage: Stage, tmp_path: Path) -> None:
    built = tmp_path / "dist"
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet")
    runs(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(built), str(PACKAGE))
    (wheel,) = built.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    assert "countersign/py.typed" in names and not [name for name in names if "test" in name]
    environment = {
        "COUNTERSIGN_SERVICE": stage.origin,
        "COUNTERSIGN_API_KEY": stage.key,
        "PYTHONPATH": str(tmp_path / "installed"),
    }
    running = in_background(lambda: runs(sys.executable, "-c", program(), cwd=tmp_path, **environment))
    stage.answers(stage.asked(), "approve")
    assert running.result() == "sent to acme\n"


def test_the_types_are_sound_also_for_a_program_that_uses_them(tmp_path: Path) -> None:
    start = tmp_path / "start.py"
    start.write_text(program())
    runs(sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "src", str(start), MYPYPATH="src")


def test_the_codes_are_those_of_the_document_and_of_the_openapi_description() -> None:
    rows = [line.split("|") for line in (ROOT / "docs/protocol/errors.md").read_text().splitlines() if "| `" in line]
    listed = {row[1].strip(" `"): int(row[2]) for row in rows if row[2].strip().isdigit()}
    assert listed == STATUS
    schemas = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["schemas"]
    assert set(schemas["Code"]["enum"]) == set(STATUS)


def test_every_member_that_the_client_reads_is_in_the_openapi_description() -> None:
    schemas = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["schemas"]
    read = {
        "DecisionDocument": [
            "decision_id",
            "kind",
            "state",
            "digest",
            "page",
            "reason",
            "response",
            "proposal",
            "deadline",
            "expired_as",
            "cancelled_for",
            "last_ran_at",
            "allowance",
            "execution",
        ],
        "AllowanceDocument": ["state", "uses_left", "until"],
        "ExecutionDocument": ["execution_id", "state", "lease_until", "conflict"],
        "ErrorEnvelope": [
            "error",
            "error_description",
            "hint",
            "request_id",
            "decision",
            "call",
            "clarification",
            "scope_request",
        ],
        "RegisterResponse": ["access_token", "token_type", "expires_in", "session_id"],
    }
    for schema, members in read.items():
        assert set(members) <= set(schemas[schema]["properties"]), schema
