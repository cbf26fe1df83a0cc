"""Hand-made runs in which a judge is easily wrong: each must be judged as its `must` says.

A story is true by argument, not by what any judge said of it (its keys `story` and `truth`).
Names that changed since are in renamed.json.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main

RENAMED = json.loads((Path(__file__).parent / "renamed.json").read_text("utf-8"))
STORIES = sorted((Path(__file__).parent / "stories").glob("*.json.gz"))


def _now(name: str) -> str:
    return str(RENAMED.get(name, name))


def _name(path: Path) -> str:
    return path.name.split(".")[0]


@pytest.mark.parametrize("path", STORIES, ids=_name)
def test_a_story_is_judged_as_it_must_be(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    must = json.loads(gzip.decompress(path.read_bytes()))["must"]
    code = main(["judge", str(path), "--json"])
    captured = capsys.readouterr()
    assert code in (0, 1, 2), captured.err
    assert [*_wrong(must, json.loads(captured.out))] == []


def _wrong(must: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    yield from _wrong_counts(must, said)
    outcomes = {name: claim["outcome"] for name, claim in said["claims"].items()}
    promises = [claim["outcome"] for claim in said["claims"].values() if not claim["warns"]]
    for name, wanted in must.get("claims", {}).items():
        outcome = outcomes.get(_now(name), "missing")
        refused = wanted.removeprefix("!")
        if (outcome == refused) if wanted != refused else (outcome != wanted):
            yield f"{name} is {outcome}, must be {wanted}"
    if "promise" in must and must["promise"] not in promises:
        yield f"no promise is {must['promise']}"
    if must.get("no_promise") in promises:
        yield f"a promise is {must['no_promise']}"
    passes = [*outcomes.values()].count("PASS")
    if must.get("passes", passes) != passes:
        yield f"{passes} claims PASS, not {must['passes']}"
    yield from _wrong_times(must, said)


def _wrong_counts(must: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    for measure, wanted in must.get("counts", {}).items():
        found = said["counts"].get(_now(measure), 0)
        if found != wanted:
            yield f"{measure} is {found}, not {wanted}"
    for measure, details in must.get("details", {}).items():
        for detail, wanted in details.items():
            found = said["details"].get(_now(measure), {}).get(_now(detail), 0)
            if found != wanted:
                yield f"{measure} {detail} is {found}, not {wanted}"


def _wrong_times(must: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    for stage, wanted in must.get("stage", {}).items():
        found = said["stages"].get(_now(stage), "missing")
        if found != wanted:
            yield f"{stage} is {found}, not {wanted}"
    if "out_s" in must:
        least, most = must["out_s"]
        found = said["outage_s"] or 0
        if not least <= found <= most:
            yield f"the outage is {found} s"
