"""Records of format 1 are read with the names of today, and no other module knows the old ones."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.claims.claims import shipped
from harness.plan.vocabulary import FACTS as KNOWN
from spark_analysis.schema import old_names
from spark_analysis.schema.costs import COSTS
from spark_analysis.schema.facts import FACTS_VERSION, Facts
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.measures import BY_NAME, REGISTER
from spark_analysis.schema.views import VIEWS
from spark_analysis.schema.words import Fate, Redelivered, UnverifiedCause

ROOT = Path(__file__).parents[3]
# These are plain words elsewhere: "the node was forgotten", "clients asked".
PLAIN = {"asked", "charges", "entrance", "forgotten", "rivals", "told", "truth", "unasked"}
RENAMED_IN_CODE = {
    *old_names.RENAMED, *old_names.VERDICT, "upheaval", "asked_held", "when_asked",
    "COMMIT_WHEN_ASKED", "ROLLBACK_WHEN_ASKED", "NOT_TOLD", "publishers_enter", "consumers_enter",
    "speaks_unasked", "name_servers_asked", "out_when_calm_s", "starved_when_calm_s",
    "consumers_not_told", "routes_told_meanwhile", "FAIL (WARNING)", "PASS (WARNING)",
} - PLAIN  # fmt: skip


def test_manifests_facts_and_states_have_the_names_of_today() -> None:
    old = {
        "format": 1,
        "rivals": [],
        "workers": [{"number": 1, "doubt": "killed"}],
        "clocks": [{"name": "publisher-1", "doubt": "it moved"}],
        "facts": {
            "format": 1,
            "rivals": [],
            "upheavals": [],
            "asks_within_ns": None,
            "clock_doubt": "",
            "windows": [{"number": 1, "doubt": "it answers", "nature": {"of_clients": False}}],
            "queues": [{"queue": "orders", "doubt": "not empty"}],
        },
        "state": {"timer_s": 10, "entrance": {"moot": "why"}, "windows": {"1": {"moot": "it"}}},
    }
    assert old_names.manifest(old) == {
        "format": FACTS_VERSION,
        "ways": [*old_names.WAYS],
        "competing_leaders": [],
        "workers": [{"number": 1, "failure": "killed"}],
        "clocks": [{"name": "publisher-1", "problem": "it moved"}],
        "facts": {
            "format": FACTS_VERSION,
            "ways": [*old_names.WAYS],
            "competing_leaders": [],
            "leadership_changes": [],
            "checks_within_ns": None,
            "clock_problem": "",
            "windows": [
                {
                    "number": 1,
                    "unverified_reason": "it answers",
                    "unverified_cause": "",
                    "properties": {"of_clients": False},
                }
            ],
            "queues": [{"queue": "orders", "undrained_reason": "not empty"}],
        },
        "state": {
            "detection_timeout_s": 10,
            "client_endpoint": {"not_applicable": "why"},
            "windows": {"1": {"not_applicable": "it"}},
        },
    }


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("", UnverifiedCause.OTHER),
        ("never began", UnverifiedCause.OTHER),
        ("the undo failed: no answer", UnverifiedCause.OTHER),
        ("never began: verification could not be prepared: busy", UnverifiedCause.OTHER),
        ("never opened: kill rmq2 means rmq2, where window 1 has it", UnverifiedCause.NEVER_BEGAN),
        ("never began: kill rmq2 means rmq2, where fault 1 is", UnverifiedCause.NEVER_BEGAN),
        ("never began: orders: no host says that it is the leader", UnverifiedCause.NO_LEADER),
        ("not verified active: it was shorter than a check of 3.5 s", UnverifiedCause.TOO_SHORT),
        ("not held: its window was shorter than a look", UnverifiedCause.TOO_SHORT),
    ],
)
@pytest.mark.parametrize("convert", [old_names.facts, old_names.manifest])
def test_windows_of_old_records_have_the_cause_of_their_words(
    reason: str, cause: UnverifiedCause, convert: Callable[[Any], Any]
) -> None:
    (window,) = convert({"format": 2, "windows": [{"unverified_reason": reason}]})["windows"]
    assert window["unverified_cause"] == cause.value


def test_a_recorded_cause_stands_whatever_the_reason_says() -> None:
    window = {"unverified_reason": "never began: no such host", "unverified_cause": ""}
    assert old_names.facts({"format": 2, "windows": [window]})["windows"] == [window]


def test_old_manifests_have_typed_targets() -> None:
    old = {
        "format": 2,
        "resolved": {
            "publishers enter": "rmq1",
            "consumers enter": "name-server",
            "window 12: hang name_server_of publisher-1": "ns1, ns2",
        },
    }
    found = old_names.manifest(old)
    assert "resolved" not in found
    assert found["endpoints"] == {"publishers": "rmq1", "consumers": "name-server"}
    target = {"window": 12, "kind": "hang", "target": "name_server_of publisher-1"}
    assert found["targets"] == [{**target, "places": "ns1, ns2"}]
    assert old_names.manifest(found) == found


def test_a_table_that_an_old_history_leaves_out_had_no_rows() -> None:
    old = {"format": "mqproof-history/1", "tables": {"attempts": {"rows": 1, "columns": {}}}}
    tables = old_names.history(old)["tables"]
    assert tables["attempts"]["rows"] == 1
    assert tables["settlements"]["rows"] == tables["deliveries"]["rows"] == 0
    assert old_names.history({**old, "format": "mqproof-history/2"})["tables"] == old["tables"]


def test_an_old_history_gets_todays_words_in_lists_and_constants() -> None:
    old = {
        "format": "mqproof-history/1",
        "truth": "so",
        "facts": {"rivals": [], "queues": [{"queue": "orders", "doubt": ""}], "windows": None},
        "declared": {"entrance": "hosts"},
        "recorded": {"1": {"consumers_entered_at_target": True}},
        "tables": {
            "deliveries": {"rows": 2, "columns": {"redelivered": "not_told"}},
            "terms": {"rows": 2, "columns": {"fate": ["commit_when_asked", "none"]}},
            "attempts": {"rows": 0, "columns": {}},
            "settlements": {"rows": 0, "columns": {}},
        },
    }
    assert old_names.history(old) == {
        "format": "mqproof-history/2",
        "explanation": "so",
        "facts": {
            "ways": [*old_names.WAYS],
            "competing_leaders": [],
            "queues": [{"queue": "orders", "undrained_reason": ""}],
            "windows": None,
        },
        "declared": {"client_endpoint": "hosts"},
        "recorded": {"1": {"consumers_connected_to_target": True}},
        "tables": {
            "deliveries": {"rows": 2, "columns": {"redelivered": "not_reported"}},
            "terms": {"rows": 2, "columns": {"fate": ["commit_when_checked", "none"]}},
            "attempts": {"rows": 0, "columns": {}},
            "settlements": {"rows": 0, "columns": {}},
        },
    }


def test_marts_have_the_names_columns_and_words_of_today() -> None:
    body = {
        "manifest": {"format": 1, "rivals": []},
        "marts": {
            "stages": {"stage": ["x"], "owed": ["system"]},
            "charges": {"measure": ["forgotten"], "detail": [""]},
            "counts": {"measure": ["unasked"], "detail": ["commit_when_asked"]},
            "asked": {"looks": [1]},
            "calm": {"begun": [1]},
        },
        "words": {"routes_told_meanwhile": {"moot": "why"}},
    }
    runs = old_names.marts({"version": 1, "runs": [{"body": body}, {"body": None}]})["runs"]
    assert runs[0]["body"] == {
        "manifest": {"format": 1, "rivals": []},
        "marts": {
            "stages": {"stage": ["x"], "recovered_by": ["system"]},
            "attributions": {"measure": ["not_redelivered"], "detail": [""]},
            "counts": {"measure": ["unchecked"], "detail": ["commit_when_checked"]},
            "queries": {"looks": [1]},
            "steady_state": {"begun": [1]},
        },
        "words": {"routes_served_meanwhile": {"not_applicable": "why"}},
        "uncounted": ["attempt_lost", "not_redelivered"],
    }
    assert runs[1] == {"body": None}
    assert {"attributions", "stages"} <= MARTS.keys()
    assert "queries" in VIEWS
    assert "steady_state" in COSTS


def test_marts_of_format_2_say_which_opportunities_they_do_not_count() -> None:
    body = {"marts": {"counts": {"measure": ["lost"]}}}
    document = {"version": 2, "seed": 1, "runs": [{"body": body}, {"body": None}]}
    assert old_names.marts(document) == {
        "version": 3,
        "seed": 1,
        "runs": [{"body": {**body, "uncounted": [*old_names.UNCOUNTED]}}, {"body": None}],
    }
    assert set(old_names.UNCOUNTED) == {one.name for one in REGISTER if one.opportunity}
    assert old_names.marts({**document, "version": 3}) == {**document, "version": 3}


def test_verdicts_and_nights_have_the_claims_and_measures_of_today() -> None:
    claim, new = "calm-hence-served", "available-in-steady-state"
    said = "of calm-hence-served"
    run = {"claims": [{"claim": claim, "meaning": said}], "summary": {"out_total": None}}
    verdict = {"version": 1, "runs": [run], "cells": [{"known": {claim: "PASS"}}]}
    assert json.loads(old_names.verdict(json.dumps(verdict))) == {
        "version": 2,
        "runs": [
            {"claims": [{"claim": new, "meaning": said}], "summary": {"total_downtime": None}}
        ],
        "cells": [{"known": {new: "PASS"}}],
    }
    night = {"version": 1, "alarms": [{"what": "out_total"}], "cells": [{"claims": {claim: 1}}]}
    assert json.loads(old_names.night(json.dumps(night))) == {
        "version": 2,
        "alarms": [{"what": "total_downtime"}],
        "cells": [{"claims": {new: 1}}],
    }


def test_claims_that_were_renamed_within_a_version_are_known_by_todays_names() -> None:
    old, new = "confirmed-hence-delivered", "confirmed-is-delivered"
    for convert in (old_names.verdict, old_names.night):
        text = json.dumps({"version": 2, "claims": {old: [old, f"{old}-1"]}})
        assert json.loads(convert(text))["claims"] == {new: [new, f"{old}-1"]}


def test_rows_of_a_csv_have_the_claims_of_today() -> None:
    assert old_names.campaign_columns(["run", "told"]) == ["run", "reasons"]
    row = {"passed": "calm-hence-served one-copy", "run": "calm-hence-served-1"}
    assert old_names.campaign_row(row) == {
        "passed": "available-in-steady-state one-copy",
        "run": "calm-hence-served-1",
    }


def test_records_without_declared_ways_have_those_of_their_time() -> None:
    ways = [*old_names.WAYS]
    facts = {"format": FACTS_VERSION, "run": "a"}
    assert old_names.facts(facts) == {**facts, "ways": ways}
    assert old_names.manifest({"format": FACTS_VERSION, "facts": facts}) == {
        "format": FACTS_VERSION,
        "ways": ways,
        "facts": {**facts, "ways": ways},
    }
    history = {"format": "mqproof-history/2", "facts": facts}
    assert old_names.history(history) == {**history, "facts": {**facts, "ways": ways}}
    assert "ways" not in facts, "a document is not changed in place"


def test_declared_ways_stay_as_they_are() -> None:
    facts = {"format": FACTS_VERSION, "ways": []}
    for convert in (old_names.facts, old_names.manifest):
        assert convert(facts) == facts
    history = {"format": "mqproof-history/2", "facts": facts}
    assert old_names.history(history) == history


@pytest.mark.parametrize(
    "document", [None, [], {}, {"format": 2, "rivals": [], "ways": []}, {"format": "x"}]
)
def test_other_documents_stay_as_they_are(document: Any) -> None:
    for convert in (old_names.manifest, old_names.facts, old_names.history, old_names.marts):
        assert convert(document) == document
    for text in ("no JSON", '{"version": 2, "out_total": 1}', '{"version": 1', '[{"version": 1}]'):
        assert old_names.verdict(text) == old_names.night(text) == text


def test_every_new_name_exists_and_no_old_one() -> None:
    details = {detail.name for measure in REGISTER for detail in measure.details}
    words = {one.name.lower() for kind in (Fate, Redelivered) for one in kind}
    for names, known in (
        (old_names.CLAIMS, {one.name for one in shipped()}),
        (old_names.MEASURES, set(BY_NAME)),
        (old_names.WORDS, details | words),
        (old_names.FACTS, set(Facts.__dataclass_fields__)),
    ):
        assert set(names.values()) <= known
        assert not names.keys() & known
    assert not old_names.STATE.keys() & KNOWN.keys()


def test_the_map_for_users_is_the_same() -> None:
    path = ROOT / "tests" / "conformance" / "renamed.json"
    assert json.loads(path.read_text("utf-8")) == old_names.RENAMED


def test_no_other_module_knows_an_old_name() -> None:
    kept = {Path(old_names.__file__), Path(__file__), ROOT / "tests" / "test_language.py"}
    kept |= {ROOT / "tests" / "harness" / "plan" / "test_problems.py"}
    words = "|".join(map(re.escape, sorted(RENAMED_IN_CODE, key=len, reverse=True)))
    old = re.compile(rf"(?<![\w-])(?:{words})(?![\w])")
    folders = ("harness", "faults", "reference_impl", "spark_analysis", "compose", "docs", "tests")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".toml", ".md", ".html", ".css", ".java") and path not in kept
        for match in old.finditer(path.read_text("utf-8"))
    ]
    assert found == [], "see tests/conformance/renamed.json"
