"""Neutral histories: what is reported arrives, what is not stays unknown, damage has its place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.histories import neutral
from harness.histories.files import text_of
from harness.histories.history import History
from harness.histories.tables import ROWS_MAX
from harness.plan.problems import LISTED_MAX, PlanError
from spark_analysis.schema.facts import Worker
from spark_analysis.schema.words import NEVER_SENT, NO_INTENT, NO_OFFSET, Redelivered, Strength
from tests.rigs.histories.neutral import WORDS, document


def parsed(changes: dict[str, Any] | None = None) -> History:
    return neutral.parse(json.dumps(document(changes)), "h.json", WORDS)


def problems(text: str) -> list[str]:
    with pytest.raises(PlanError) as found:
        neutral.parse(text, "h.json", WORDS)
    return [str(problem) for problem in found.value.problems]


def test_words_and_nulls_become_the_numbers_of_the_record_format() -> None:
    tables = parsed().tables
    assert tables["attempts"]["intended_ns"] == [1_000_000_000, NO_INTENT]
    assert tables["attempts"]["producer"] == [1, 1]
    assert tables["settlements"]["outcome"] == [1, 2]
    assert tables["settlements"]["strength"] == [Strength.REPLICATED, Strength.NONE]
    assert tables["deliveries"]["offset"] == [NO_OFFSET]
    assert tables["deliveries"]["broker"] == [None]


def test_null_is_never_sent_or_reported() -> None:
    tables = parsed(
        {
            "tables.attempts.columns.sent_ns": [1, None],
            "tables.deliveries.columns.redelivered": None,
        }
    ).tables
    assert tables["attempts"]["sent_ns"] == [1, NEVER_SENT]
    assert tables["deliveries"]["redelivered"] == [Redelivered.NOT_REPORTED]


def test_a_null_fact_is_not_reported() -> None:
    history = parsed()
    assert history.declared == {"copies": 3, "confirms": True}
    assert history.recorded == {1: {"fault_target_role": "master", "mirrors_at_fault": 2}}


def test_absent_facts_prove_nothing() -> None:
    facts = parsed(
        {
            "facts.workers.1.log_closed": ...,
            "facts.queues.0.drained": ...,
            "facts.windows.0.verified": ...,
            "facts.load_started_ns": ...,
        }
    ).facts
    assert facts.run == "small"
    assert facts.workers[1] == Worker(2, "consumer", log_closed=False)
    assert not facts.queues[0].drained
    assert not facts.windows[0].verified
    assert facts.load_started_ns == 0


def test_the_log_of_an_unnamed_worker_is_not_assumed_closed() -> None:
    assert parsed({"facts.workers": []}).facts.workers == (
        Worker(2, "consumer", log_closed=False),
        Worker(1, "publisher", log_closed=False),
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "mqproof-history/9"}, "h.json: format: 'mqproof-history/9' is not 'mq"),
        ({"name": 7}, "h.json: name: 7 is not a name"),
        ({"fatcs": {}}, "h.json: there is no key 'fatcs'; did you mean 'facts'?"),
        ({"facts": ...}, "h.json: facts is missing"),
        ({"tables": ...}, "h.json: tables is missing"),
        ({"facts": []}, "h.json: facts: [] is not an object"),
        ({"facts.deadline_ns": ...}, "h.json: facts: deadline_ns is missing"),
        ({"facts.paced": 1}, "h.json: facts.paced: 1 is not bool"),
        ({"facts.deadline_ns": 1.5}, "h.json: facts.deadline_ns: 1.5 is not int"),
        ({"facts.deadline_ns": -1}, "h.json: facts.deadline_ns: -1 is below 0"),
        ({"facts.deadline_ns": 10**30}, "is out of range"),
        ({"facts.load_ended_ns": -5}, "h.json: facts.load_ended_ns: the load ends before it"),
        ({"facts.format": 9}, "h.json: facts.format: 9 is not the format"),
        ({"facts.windows": {}}, "h.json: facts.windows: {} is not a list"),
        ({"facts.windows.0.number": 2}, "h.json: facts.windows[0].number: 2 is not 1"),
        ({"facts.windows.0.kind": None}, "h.json: facts.windows[0].kind: None is not str"),
        ({"facts.windows.0.ended_ns": "x"}, "windows[0].ended_ns: 'x' is not int or null"),
        ({"facts.windows.0.ended_ns": 1}, "windows[0].ended_ns: it is before origin_ns"),
        ({"facts.windows.0.unverified_cause": "bad luck"}, "there is no cause 'bad luck'"),
        ({"facts.windows.0.returned_ns": 1}, "windows[0].returned_ns: it is before origin_ns"),
        ({"facts.windows.0.over": 1}, "facts.windows[0]: there is no key 'over'"),
        ({"facts.workers.1.number": 1}, "facts.workers[1].number: 1 stands there twice"),
        ({"facts.absences": [{"worker": 1, "from_ns": 5, "until_ns": 1}]}, "facts.absences: one"),
        ({"facts.clocks": [{"worker": 1, "bound_ns": -1}]}, "facts.clocks[0].bound_ns: -1 is"),
        ({"facts.clocks": [{"worker": 1, "bound_ns": 1}] * 2}, "clocks[1].worker: 1 stands there"),
        ({"facts.workers.1.number": -2}, "facts.workers[1].number: -2 is below 0"),
        ({"facts.windows.0.over_ns": 1}, "facts.windows[0].over_ns: it is before origin_ns"),
        ({"declared": 3}, "h.json: declared: 3 is not an object"),
        ({"declared.copys": 3}, "declared: there is no fact 'copys'; did you mean 'copies'?"),
        ({"declared.copies": "3"}, "h.json: declared.copies: '3' is not number, nor null"),
        ({"declared.copies": True}, "h.json: declared.copies: True is not number, nor null"),
        ({"declared.copies": -1}, "declared.copies: -1 is not a number from 0 to 1,000,000,000"),
        ({"declared.copies": 10**400}, "h.json: declared.copies: 1000"),
        ({"declared.copies": 1e300}, "declared.copies: 1e+300 is not a number from 0 to 1,000,"),
        ({"recorded.1.mirrors_at_fault": -1}, "recorded.1.mirrors_at_fault: -1 is not a number"),
        (
            {"declared.confirms": 1},
            "h.json: declared.confirms: 1 is neither true nor false, nor null",
        ),
        ({"recorded.2": {}}, "h.json: recorded: there is no fault window '2'"),
        ({"recorded.1.role": "x"}, "h.json: recorded.1: there is no fact 'role'"),
        ({"tables": []}, "h.json: tables: [] is not an object"),
        ({"tables.attempt": {}}, "there is no table 'attempt'; did you mean 'attempts'?"),
        ({"tables.faults": {"rows": 1}}, 'h.json: tables.faults: it is not {"rows": n, '),
        ({"tables.faults.rows": -1}, "h.json: tables.faults.rows: -1 is not a number from 0"),
        ({"tables.faults.rows": ROWS_MAX + 1}, "tables.faults.rows: 2000001 is not a number"),
        ({"tables.attempts.columns": 1}, "h.json: tables.attempts.columns: 1 is not an object"),
        ({"tables.attempts.columns.sent": 1}, "tables.attempts: there is no column 'sent'"),
        ({"tables.attempts.columns.key": ...}, "tables.attempts: the column key is missing"),
        ({"tables.attempts.columns.key": [1]}, "attempts.key: it has 1 values, and its table 2"),
        ({"tables.attempts.columns.key": None}, "attempts.key: None is not a whole number"),
        ({"tables.attempts.columns.key": True}, "attempts.key: True is not a whole number"),
        ({"tables.attempts.columns.key": 2**40}, "attempts.key: 1099511627776 is out of range"),
        ({"tables.attempts.columns.key": [0, 0.5]}, "attempts.key[1]: 0.5 is not a whole number"),
        ({"tables.attempts.columns.queue": 7}, "attempts.queue: 7 is not a text"),
        ({"tables.attempts.columns.sent_ns": [5, -1]}, "attempts.sent_ns[1]: -1 is below 0; wh"),
        ({"tables.attempts.columns.producer": 2}, "attempts.producer[0]: worker 2 is a consumer"),
        ({"tables.deliveries.columns.consumer": 1}, "deliveries.consumer[0]: worker 1 is a publ"),
        ({"facts.workers.1.role": "consumre"}, "consumer[0]: worker 2 is a consumre, no consum"),
        ({"tables.settlements.columns.outcome": "ok"}, "settlements.outcome: 'ok' is not one of"),
        ({"tables.settlements.columns.outcome": [1, None]}, "outcome[1]: None is not one of: con"),
        ({"tables.deliveries.columns.via": "LOAD"}, "deliveries.via: 'LOAD' is not one of: load"),
        ({"tables.deliveries.columns.header_ok": 2}, "deliveries.header_ok: 2 is neither 0 nor 1"),
        ({"tables.faults.columns.window": 3}, "faults.window[0]: there is no fault window 3"),
    ],
)
def test_damage_is_named_with_its_place(changes: dict[str, Any], said: str) -> None:
    found = problems(json.dumps(document(changes)))
    assert any(said in problem for problem in found), found


FAULTS = {"rows": 1, "columns": {"window": [1], "event": ["gone"], "at_ns": [2_000_000_000]}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"declared.confirms": False}, "declared.confirms: it is false, and facts.confirms is tr"),
        (
            {"tables.faults": {**FAULTS, "columns": {**FAULTS["columns"], "event": ["healed"]}}},
            "faults.event[0]: 'healed' is none of issued, returned, verified, down, up, undo_is",
        ),
        (
            {
                "tables.faults": {
                    **FAULTS,
                    "columns": {**FAULTS["columns"], "at_ns": [1_999_999_999]},
                }
            },
            "faults.at_ns[0]: gone at 1999999999 lies before the origin of fault window 1",
        ),
        (
            {
                "tables.lateness": {
                    "rows": 1,
                    "columns": {"worker": [1], "at_ns": [5], "late_ns": [-1]},
                }
            },
            "lateness.late_ns[0]: -1 is below 0",
        ),
    ],
)
def test_a_contradiction_is_named_with_its_place(changes: dict[str, Any], said: str) -> None:
    (problem,) = problems(json.dumps(document(changes)))
    assert said in problem


def test_steps_of_a_fault_at_its_origin_contradict_nothing() -> None:
    assert parsed({"tables.faults": FAULTS}).tables["faults"]["at_ns"] == [2_000_000_000]
    late = {"rows": 1, "columns": {"worker": [1], "at_ns": [5], "late_ns": [0]}}
    assert parsed({"tables.lateness": late, "declared.confirms": None}).declared == {"copies": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "h.json: line 1, column 1: this is no JSON: Expecting value"),
        ('{"format": }', "h.json: line 1, column 12: this is no JSON"),
        ("[1]", "h.json: format: [1] is not 'mqproof-history/2'"),
        ("[" * 100_000, "h.json: this is no JSON that could be read"),
        ('{"format": 1, "format": 1}', "h.json: the key 'format' stands twice in one object"),
        ('{"format": "\\ud800"}', "h.json: a text in it holds half a character"),
        ('{"format": NaN}', "h.json: NaN is no JSON"),
        (f'{{"format": {"9" * 5000}}}', "h.json: this is no JSON that could be read"),
    ],
)
def test_input_that_is_no_history_is_reported_as_such(text: str, said: str) -> None:
    assert any(said in problem for problem in problems(text))


def test_every_problem_is_reported_at_once() -> None:
    changes = {
        "name": 7,
        "facts.paced": 1,
        "declared.copys": 1,
        "tables.attempts.columns.key": "x",
    }
    assert len(problems(json.dumps(document(changes)))) == 4


def test_contradicting_rows_are_reported_with_all_other_problems() -> None:
    attempts = {"tables.attempts.columns.sequence": 0, "tables.attempts.columns.attempt": [1, 2]}
    found = problems(
        json.dumps(
            document({**attempts, "tables.attempts.columns.queue": ["a", "b"], "declared.x": 1})
        )
    )
    assert found[1:] == [
        "h.json: attempts.queue[1]: message 0 of producer 1 had 'a' before",
        "h.json: settlements.attempt[1]: there is no attempt 1 of message 1 of producer 1 among "
        "the attempts",
    ]


def test_a_drain_may_be_anybodys() -> None:
    changed = {"tables.deliveries.columns.consumer": 1, "tables.deliveries.columns.via": "drain"}
    assert parsed(changed).tables["deliveries"]["consumer"] == [1]


def test_first_wrong_cells_of_a_column_are_reported_with_count() -> None:
    changes = {f"tables.faults.columns.{name}": ["x"] * 100 for name in ("window", "at_ns")}
    changes["tables.faults.columns.event"] = "undo_issued"
    found = problems(json.dumps(document({**changes, "tables.faults.rows": 100})))
    assert "h.json: faults.window[2]: 'x' is not a whole number" in found
    assert "h.json: faults.window: 97 more cells are wrong" in found


def test_no_more_problems_are_listed_than_anybody_reads() -> None:
    changes = {f"key{number}": 1 for number in range(LISTED_MAX + 9)}
    found = problems(json.dumps(document(changes)))
    assert len(found) == LISTED_MAX + 1
    assert found[-1] == "h.json: and 9 more"


def test_a_packed_file_is_read_as_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "packed.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document({"name": ...})).encode()))
    assert neutral.read(path, WORDS).facts.run == "packed"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json.gz", b"not packed", "cannot be read"),
        ("b.json.gz", gzip.compress(b"{}" * 99, mtime=0)[:-9], "cannot be read"),
        ("c.json", b"\xff\xfe", "it is not UTF-8 text (byte 0)"),
        ("d.json.gz", gzip.compress(b" " * 5000, mtime=0), "it holds more than 1,000 bytes"),
        ("e.json", None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PlanError, match=said.replace("(", r"\(").replace(")", r"\)")):
        text_of(path, bytes_max=1_000)


_TIMES = st.integers(0, 10**12)
_RARE = st.one_of(st.none(), _TIMES)


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents whose columns hold anything that their kinds admit."""
    rows = draw(st.integers(0, 4))

    def column(values: st.SearchStrategy[Any]) -> Any:
        one = draw(st.booleans())
        return draw(values if one else st.lists(values, min_size=rows, max_size=rows))

    attempts = {
        "producer": column(st.sampled_from([1, 3])),
        "sequence": column(st.integers(0, 2**40)),
        "attempt": column(st.integers(1, 5)),
        "queue": column(st.sampled_from(["a", "b", None])),
        "key": column(st.integers(-5, 5)),
        "intended_ns": column(_RARE),
        "sent_ns": column(_RARE),
        "connection": column(st.integers(1, 3)),
    }
    terms = {
        "producer": 1,
        "sequence": column(st.integers(0, 3)),
        "attempt": 1,
        "due_ns": column(_RARE),
        "fate": column(st.sampled_from(["commit", "rollback_when_checked", "none", None])),
    }
    return document(
        {
            "name": draw(st.text(min_size=1, max_size=5)),
            "facts.windows.0.ended_ns": draw(st.one_of(st.none(), st.integers(2 * 10**9, 10**12))),
            "facts.workers.1.log_closed": draw(st.booleans()),
            "tables.attempts": {"rows": rows, "columns": attempts},
            "tables.terms": {"rows": rows, "columns": terms},
        }
    )


@given(_documents())
def test_a_history_that_is_written_is_read_as_the_same(changed: dict[str, Any]) -> None:
    history = neutral.parse(json.dumps(changed), "h.json", WORDS)
    written = json.dumps(neutral.to_json(history))
    assert neutral.parse(written, "h.json", WORDS) == history


def test_a_history_names_the_levels_of_its_system() -> None:
    levels = [{"rank": 1, "label": "quorum_synced"}, {"rank": 9, "label": "quorum_cached"}]
    cells = {"facts.levels": levels, "tables.settlements.columns.strength": "quorum_cached"}
    history = neutral.parse(json.dumps(document(cells)), "h.json", WORDS)
    assert set(history.tables["settlements"]["strength"]) == {9}
    written = neutral.to_json(history)
    assert written["tables"]["settlements"]["columns"]["strength"] == "quorum_cached"
    assert neutral.parse(json.dumps(written), "h.json", WORDS) == history


def test_a_level_that_a_history_does_not_declare_is_refused() -> None:
    changed = document({"tables.settlements.columns.strength": "quorum_cached"})
    with pytest.raises(PlanError, match="'quorum_cached' is not one of: none"):
        neutral.parse(json.dumps(changed), "h.json", WORDS)


PARKED = {"number": 9, "label": "parked", "by": "load", "text": "parked for", "again": True}


def test_a_history_names_the_ways_of_its_system() -> None:
    cells = {"facts.ways": [PARKED], "tables.deliveries.columns.via": "parked"}
    history = neutral.parse(json.dumps(document(cells)), "h.json", WORDS)
    assert set(history.tables["deliveries"]["via"]) == {9}
    written = neutral.to_json(history)
    assert written["tables"]["deliveries"]["columns"]["via"] == "parked"
    assert neutral.parse(json.dumps(written), "h.json", WORDS) == history


@pytest.mark.parametrize("ways", [[], [PARKED]])
def test_a_way_that_a_history_does_not_declare_is_refused(ways: list[object]) -> None:
    changed = document({"facts.ways": ways, "tables.deliveries.columns.via": "retry_topic"})
    with pytest.raises(PlanError, match=r"'retry_topic' is not one of: load \| drain \| audit"):
        neutral.parse(json.dumps(changed), "h.json", WORDS)


def test_a_history_of_before_ways_were_declared_has_those_of_its_time() -> None:
    changed = document({"tables.deliveries.columns.via": "retry_topic"})
    history = neutral.parse(json.dumps(changed), "h.json", WORDS)
    assert [way.label for way in history.facts.ways] == ["retry_topic", "half"]


def test_a_wrong_way_is_named_with_its_place() -> None:
    changed = document({"facts.ways": [{**PARKED, "by": "chance"}]})
    with pytest.raises(PlanError, match=r"facts\.ways: way 'parked': it is by 'load'"):
        neutral.parse(json.dumps(changed), "h.json", WORDS)


def test_nothing_comes_once_a_queue_is_quiet() -> None:
    (at_ns,) = parsed().tables["deliveries"]["received_ns"]
    assert isinstance(at_ns, int)
    assert parsed({"facts.queues.0.quiet_ns": at_ns}).facts.queues[0].quiet_ns == at_ns
    (said,) = problems(json.dumps(document({"facts.queues.0.quiet_ns": at_ns - 1})))
    assert f"deliveries.received_ns[0]: {at_ns} is later than quiet_ns of 'orders'" in said


def test_an_audit_may_find_something_once_a_queue_is_quiet() -> None:
    changes = {"facts.queues.0.quiet_ns": 1, "tables.deliveries.columns.via": "audit"}
    assert parsed(changes).facts.queues[0].quiet_ns == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"facts.deadline_ns": 0}, "facts.deadline_ns: 0: every publish of a paced load would be"),
        (
            {"facts.queues.0.undrained_reason": "a time limit"},
            "facts.queues[0].undrained_reason: it is 'a time limit', and drained is true",
        ),
        (
            {"facts.absences": [{"worker": 2, "from_ns": 1, "until_ns": 9}]},
            "facts.absences[0]: worker 2 is absent from 1 on, and no fault window had begun",
        ),
    ],
)
def test_facts_do_not_contradict_each_other(changes: dict[str, Any], said: str) -> None:
    (problem,) = problems(json.dumps(document(changes)))
    assert said in problem


def test_a_load_at_maximum_rate_needs_no_deadline() -> None:
    assert parsed({"facts.deadline_ns": 0, "facts.paced": False}).facts.deadline_ns == 0
