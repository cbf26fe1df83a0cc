"""A DLedger group of the reference loses its leader, as a newcomer plays it: no Docker, no Java."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docker.command_line import mqproof

pytestmark = [pytest.mark.slow, pytest.mark.long]

END_LIMIT_S = 400
WORDS = ("master-crash", "--system", "reference-dledger", "--seed", "7", "--judge", "claims")


@pytest.fixture(scope="module")
def verdict(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("group")
    process = mqproof(folder, "run", *WORDS)
    output, _ = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 0, output
    (found,) = Path(folder).rglob("verdict.json")
    document: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return document


def test_what_a_dledger_group_promises_is_kept(verdict: dict[str, Any]) -> None:
    assert verdict["verdict"] == "passed"
