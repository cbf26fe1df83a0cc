"""A manifest under a right digest may still be impossible: problems are reported by place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults.kinds import KINDS as FAULT_KINDS
from harness.plan.fault_properties import declared_properties
from harness.run_folder.manifest import NAME, Manifest
from harness.run_folder.whole import NotWhole, whole
from spark_analysis.files.sealed import DIGEST, digest_of
from spark_analysis.schema.facts import Window
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.sealed_runs import sealed

Document = dict[str, Any]
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    0.5,
    "",
    "word",
    [],
    ["word"],
    [[]],
    {},
    {"word": 1},
)
WINDOW = {
    "number": 1,
    "kind": "kill",
    "origin_ns": 20,
    "returned_ns": 30,
    "ended_ns": 40,
    "verified": True,
    "gone": True,
    "unverified_reason": "",
    "over_ns": None,
}


@pytest.fixture(scope="module")
def sealed_document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder = sealed(tmp_path_factory.mktemp("runs") / "one")
    document: Document = json.loads((folder / NAME).read_text())
    return document


def test_all_manifest_mistakes_are_reported_at_once_with_their_place(
    sealed_document: Document, tmp_path: Path
) -> None:
    document = copied(sealed_document)
    document["repeat"] = "first"
    document["deadline_ns"] = 10**19
    document["workers"][0]["role"] = 7
    document["windows"] = [{**WINDOW, "verified": "yes", "strange": 1}]
    document["queues"] = "none"
    del document["layout"]
    said = reason(document, tmp_path)
    assert said.startswith(f"{tmp_path / 'one' / NAME} is no manifest of ours: ")
    for part in (
        "repeat: 'first' is not int",
        "deadline_ns: 10000000000000000000 is out of range",
        "workers[0].role: 7 is not str",
        "windows[0]: 'strange' is no key",
        "windows[0].verified: 'yes' is not bool",
        "queues: 'none' is not a list",
        "layout: layout is missing",
    ):
        assert part in said


def test_facts_of_a_newer_version_are_refused_by_their_unknown_keys(
    sealed_document: Document, tmp_path: Path
) -> None:
    document = copied(sealed_document)
    document["facts"]["weather"] = "calm"
    said = reason(document, tmp_path)
    assert "facts: 'weather' is no key" in said
    assert said.endswith(
        "; a newer mqproof may have written 'weather': judge the run with that one"
    )
    del document["facts"]["weather"]
    del document["facts"]["process_watch_lost"]  # of before it was recorded
    assert Manifest.load(written(document, tmp_path)).facts == document["facts"]


def test_a_manifest_of_a_newer_version_is_refused_by_its_unknown_keys(
    sealed_document: Document, tmp_path: Path
) -> None:
    said = reason({**copied(sealed_document), "weather": "calm"}, tmp_path)
    assert "'weather': 'weather' is no key; valid: run | " in said
    assert said.endswith("a newer mqproof may have written 'weather': judge the run with that one")


def test_first_of_very_many_problems_are_reported_with_a_count(
    sealed_document: Document, tmp_path: Path
) -> None:
    document = copied(sealed_document)
    document["windows"] = [1] * 10_000
    said = reason(document, tmp_path)
    assert said.endswith("; and 9,980 more")
    assert len(said) < 2_000


def test_a_planned_window_is_neither_verified_nor_gone() -> None:
    (window,) = Manifest.of(plan(fault("kill"))).windows
    properties = declared_properties(FAULT_KINDS["kill"])
    assert window == Window.planned(1, "kill", 0, "never began", properties)
    assert (window.origin_ns, window.returned_ns, window.ended_ns) == (0, 0, None)
    assert (window.verified, window.gone) == (False, False)
    assert (window.unverified_reason, window.properties) == ("never began", properties)


@pytest.mark.parametrize("spoil", [
    lambda facts: facts.update(load_ended_ns=facts["load_started_ns"] - 1),
    lambda facts: facts.update(deadline_ns=-1),
    lambda facts: facts.update(run="another"),
    lambda facts: facts.update(system="another"),
    lambda facts: facts.update(windows=[{**WINDOW, "number": 2}]),
    lambda facts: facts.update(windows=[{**WINDOW, "returned_ns": 19}]),
    lambda facts: facts.update(windows=[{**WINDOW, "ended_ns": 19}]),
    lambda facts: facts.update(absences=[{"worker": 99, "from_ns": 1, "until_ns": None}]),
    lambda facts: facts.update(
        competing_leaders=[{"queue": "nowhere", "from_ns": 1, "until_ns": 2}]
    ),
    lambda facts: facts["workers"].append({**facts["workers"][0]}),
    lambda facts: facts["workers"].append({**facts["workers"][0], "number": 99}),
    lambda facts: facts["workers"][0].update(role="unknown"),
    lambda facts: facts["queues"].append({**facts["queues"][0]}),
    lambda facts: facts.update(clocks=[{"worker": 1, "bound_ns": -1}]),
])  # fmt: skip
def test_contradictory_facts_are_not_judged(
    spoil: Callable[[Document], None], sealed_document: Document, tmp_path: Path
) -> None:
    document = copied(sealed_document)
    spoil(document["facts"])
    assert "facts." in reason(document, tmp_path)


def test_no_value_of_any_key_is_a_traceback(sealed_document: Document, tmp_path: Path) -> None:
    """What is not refused was read as it is declared."""
    refused = []
    for key in sealed_document:
        for value in VALUES:
            try:
                whole(written({**copied(sealed_document), key: value}, tmp_path))
            except NotWhole as failure:
                refused.append(str(failure))
    assert all(str(tmp_path / "one") in said for said in refused)
    assert len(refused) > len(sealed_document) * len(VALUES) * 0.7


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5_000])
def test_unparseable_manifest_is_reported_with_its_path(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / NAME).write_text(text)
    with pytest.raises(NotWhole, match=str(folder / NAME)):
        whole(folder)


def copied(sealed_document: Document) -> Document:
    document: Document = json.loads(json.dumps(sealed_document))
    return document


def written(document: Document, place: Path) -> Path:
    """Under a digest that fits."""
    folder = place / "one"
    folder.mkdir(exist_ok=True)
    document = {**document, DIGEST: digest_of(document)}
    (folder / NAME).write_text(json.dumps(document))
    return folder


def reason(document: Document, place: Path) -> str:
    folder = written(document, place)
    with pytest.raises(ValueError, match="no manifest of ours") as caught:
        Manifest.load(folder)
    with pytest.raises(NotWhole) as refusal:
        whole(folder)
    assert str(refusal.value) == str(caught.value)
    return str(refusal.value)
