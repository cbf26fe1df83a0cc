"""Histories of Jepsen and OpenChaos, judged as records of ours."""

from collections import Counter
from typing import Any

import pytest

from harness.analyse.history import evidence
from harness.histories import jepsen, jepsen_verdict, openchaos, openchaos_verdict
from harness.histories.as_rows import rows_of
from harness.histories.declared import declaring
from harness.histories.explained import explained
from harness.histories.history import History
from harness.histories.rows import FAULTS_UNJUDGED, Form, Row, history
from harness.plan.problems import PlanError
from spark_analysis.schema.facts import LeadershipChange
from tests.rigs.histories.theirs import edn, histories, row, rows
from tests.rigs.inputs.openchaos_lines import lines_of

QUEUE = histories("queue_histories")
RECOVERY = histories("recovery_histories")
_CLASSES = (
    "lost",
    "loss_unknown",
    "lost_indeterminate",
    "revived",
    "refused_but_delivered",
    "unexpected",
    "duplicated",
)
_DRAIN = [[90, 9, "drain", "invoke"], [91, 9, "drain", "ok", []]]


def counts(converted: History) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in evidence(converted, "h").findings.counts:
        if each.measure in _CLASSES:
            found[f"{each.measure} {each.detail}".strip()] += each.count
    return found


def of_jepsen(lines: list[list[Any]]) -> History:
    return history("h", jepsen.parse(edn(rows(lines)), "h.edn"), jepsen.FORM)


def of_openchaos(lines: list[list[Any]]) -> History:
    text = lines_of(rows(lines))
    return history("h", openchaos.parse(text, "h.tsv"), openchaos.FORM)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Q1", {"revived": 1}),
        (
            "Q2",
            {
                "lost_indeterminate": 1,
                "loss_unknown consumer_log": 1,
                "duplicated ambiguous": 1,
                "unexpected never_sent": 1,
            },
        ),
        ("Q3", {}),
        ("Q4", {"duplicated ambiguous": 1}),
        ("Q5", {"refused_but_delivered refused": 1}),
        ("Q6", {"duplicated ambiguous": 2}),
        ("Q7", {}),
        ("Q8", {"duplicated publisher_retry": 1}),
    ],
)
def test_jepsen_operations_map_to_our_classes(name: str, expected: dict[str, int]) -> None:
    lines = QUEUE[name]["h"]
    drained = lines if name == "Q7" else [*lines, *_DRAIN]
    assert counts(of_jepsen(drained)) == expected


@pytest.mark.parametrize("name", sorted(name for name in QUEUE if name != "Q7"))
def test_file_is_read_back_as_the_rows_written(name: str) -> None:
    lines = rows(QUEUE[name]["h"])
    assert jepsen.parse(edn(lines), "h.edn") == lines
    without_latency = [Row(one.at_ns, one.client, one.f, one.ev, one.value) for one in lines]
    read = openchaos.parse(lines_of(lines), "h.tsv")
    assert [Row(o.at_ns, o.client, o.f, o.ev, o.value) for o in read] == without_latency


def test_a_vector_of_operations_is_read_like_one_a_line() -> None:
    text = edn(rows(QUEUE["Q2"]["h"]))
    assert jepsen.parse(f"[{text}]", "h.edn") == jepsen.parse(text, "h.edn")


def test_number_and_its_digits_differ_if_a_history_has_both() -> None:
    lines = "".join(
        f"{{:process 1, :type :invoke, :f :enqueue, :value {value}, :time {at}}}\n"
        for at, value in enumerate(("7", '"7"'))
    )
    assert [each.value for each in jepsen.parse(lines, "h.edn")] == ["7", '"7"']
    assert jepsen.parse(lines.splitlines()[1], "h.edn")[0].value == "7"


_SENT = [[0, 1, "enqueue", "invoke", "a"], [1, 1, "enqueue", "ok", "a"]]


def test_loss_needs_a_successful_drain_after_everything_else() -> None:
    assert counts(of_jepsen(_SENT)) == {"loss_unknown drain": 1}
    assert counts(of_jepsen([*_SENT, *_DRAIN])) == {"lost none": 1}
    late = [[92, 1, "enqueue", "invoke", "b"], [93, 1, "enqueue", "info", "b"]]
    assert counts(of_jepsen([*_SENT, *_DRAIN, *late]))["loss_unknown drain"] == 1
    open_drain = [[90, 9, "drain", "invoke"]]
    assert counts(of_jepsen([*_SENT, *open_drain])) == {"loss_unknown consumer_log": 1}
    overlapping = [[0, 9, "drain", "invoke"], *_SENT, [91, 9, "drain", "ok", []]]
    assert counts(of_jepsen(overlapping)) == {"loss_unknown drain": 1}


def test_a_dequeue_that_crashed_may_have_taken_what_is_missing() -> None:
    crashed = [[2, 2, "dequeue", "invoke"], [3, 2, "dequeue", "info"]]
    assert counts(of_jepsen([*_SENT, *crashed, *_DRAIN])) == {"loss_unknown consumer_log": 1}
    failed = [[2, 2, "dequeue", "invoke"], [3, 2, "dequeue", "fail"]]
    assert counts(of_jepsen([*_SENT, *failed, *_DRAIN])) == {"lost none": 1}
    first_drain = [[2, 8, "drain", "invoke"], [3, 8, "drain", "info", []]]
    assert counts(of_jepsen([*_SENT, *first_drain, *_DRAIN])) == {"loss_unknown consumer_log": 1}


def test_a_failure_of_openchaos_may_have_happened() -> None:
    lines = [[0, 1, "enqueue", "invoke", "a"], [9, 1, "enqueue", "fail", "a", None, 9]]
    delivered = [*lines, [10, 2, "dequeue", "ok", "a", None, 1]]
    assert counts(of_openchaos(delivered)) == {"revived": 1}
    assert counts(of_jepsen(delivered)) == {"refused_but_delivered refused": 1}


def test_an_openchaos_queue_is_never_seen_empty() -> None:
    polled = [[5, 2, "dequeue", "invoke"], [6, 2, "dequeue", "fail", None, None, 1]]
    assert counts(of_openchaos([*_SENT, *polled])) == {"loss_unknown drain": 1}


def test_a_completion_without_a_start_is_dated_by_its_latency() -> None:
    converted = of_openchaos([[30_000, 1, "enqueue", "ok", "a", None, 500]])
    assert converted.tables["attempts"]["sent_ns"] == [0]
    assert converted.tables["settlements"]["settled_ns"] == [500_000_000]


def test_unverified_faults_are_leadership_changes_and_unjudged() -> None:
    fault = [[10, 0, "fault", "start", "kill"], [20, 0, "fault", "end", "kill"]]
    converted = of_openchaos([*_SENT, *fault])
    assert converted.facts.windows == ()
    assert converted.facts.leadership_changes == (LeadershipChange(10_000_000, None),)
    assert converted.doubts == (FAULTS_UNJUDGED,)
    assert of_openchaos(_SENT).doubts == ()


def test_a_nemesis_reports_everything_twice() -> None:
    text = "".join(
        f"{{:process :nemesis, :type :info, :f :kill, :value nil, :time {at}}}\n"
        for at in (1, 2, 5)
    )
    assert [(each.f, each.ev) for each in jepsen.parse(text, "h.edn")] == [
        ("fault", "start"),
        ("fault", "end"),
        ("fault", "start"),
    ]


def test_same_value_from_another_client_is_another_attempt() -> None:
    again = [[5, 3, "enqueue", "invoke", "a"], [6, 3, "enqueue", "info", "a"]]
    converted = of_jepsen([*_SENT, *again, [7, 2, "dequeue", "ok", "a"], *_DRAIN])
    assert converted.tables["attempts"]["attempt"] == [1, 2]
    assert converted.tables["attempts"]["producer"] == [1, 1]
    assert converted.tables["attempts"]["connection"] == [1, 2]
    assert counts(converted) == {}


def test_a_delivery_is_of_an_attempt_that_may_have_come() -> None:
    failed = [[0, 1, "enqueue", "invoke", "a"], [1, 1, "enqueue", "fail", "a"]]
    retried = [[2, 1, "enqueue", "invoke", "a"], [3, 1, "enqueue", "ok", "a"]]
    converted = of_jepsen([*failed, *retried, [4, 2, "dequeue", "ok", "a"]])
    assert converted.tables["deliveries"]["attempt"] == [2]


def test_fields_missing_in_the_foreign_format_are_unknown() -> None:
    found = evidence(of_jepsen([*_SENT, *_DRAIN]), "h")
    for name in ("copies", "confirm_waits_for_mirrors", "client_endpoint", "elects", "no_ack"):
        assert str(found.value(name)).startswith("unknown"), name


def test_a_question_without_a_field_in_the_format_is_not_applicable() -> None:
    found = evidence(of_jepsen([*_SENT, *_DRAIN]), "h")
    for name in ("corrupt", "not_redelivered", "reordered", "lost_disk", "lost.replicated"):
        assert str(found.value(name)).startswith("not applicable, because the format has"), name
    assert str(found.value("lost")) == "1 of 1", "it has values, so a loss can be seen"


def test_a_declared_fact_is_known_whatever_the_format_lacks() -> None:
    declared = {"operations": 1, "lost_disk": "all"}
    found = evidence(declaring(of_jepsen([*_SENT, *_DRAIN]), declared, "h"), "h")
    assert found.value("lost_disk") == "all"
    assert str(found.value("node_removed")).startswith("unknown")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "h.edn: it holds no operation"),
        ("[1]", "h.edn: operation 0: 1 is no map"),
        ("{:type :ok", "h.edn: this is no EDN: line 1, column 1: what is opened here is never"),
        ("{:type :ok, :f :enqueue}", "h.edn: operation 0: :process, :time is missing"),
        ("{:process 1 :type :ok :f :enqueue :time 1.5}", "operation 0, :time: 1.5 is no time"),
        ("{:process 1 :type :oka :f :enqueue :time 1}", "there is no type 'oka'; did you mean 'o"),
        ("{:process 1 :type :ok :f :read :time 1}", "a queue has no operation 'read'"),
        ("{:process 1 :type :ok :f :enqueue :time 1}", "operation 0, :value: an enqueue of noth"),
        ("{:process 1 :type :ok :f :dequeue :time 1}", "operation 0, :value: it is ok, but noth"),
        ("{:process 1 :type :ok :f :drain :time 1 :value 5}", ":value: 5 is no vector of what"),
        (
            "{:process 1 :type :invoke :f :dequeue :time 5}"
            "{:process 1 :type :fail :f :dequeue :time 4}",
            "h.edn: process 1: dequeue fail at 4 comes after one at 5",
        ),
    ],
)
def test_a_jepsen_history_that_is_damaged_is_not_judged(text: str, said: str) -> None:
    with pytest.raises(PlanError) as found:
        jepsen.parse(text, "h.edn")
    assert said in str(found.value)


def test_truncated_jepsen_history_also_reports_earlier_errors() -> None:
    with pytest.raises(PlanError) as found:
        jepsen.parse("{:type :later :process 1 :f :drain :time 1}\n{:type :ok", "h.edn")
    breaks, wrong = found.value.problems
    assert breaks.text == "this is no EDN: line 2, column 1: what is opened here is never closed"
    assert wrong.place == "h.edn: operation 0, :type"
    with pytest.raises(PlanError) as other:
        jepsen.parse("1\tenqueue\tREQUEST\t{", "h.edn")
    assert len(other.value.problems) == 1, "words of another form are no problem each"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "h.tsv: it holds no line"),
        ("x\n", "h.tsv: line 1: 1 columns are no fault (4), REQUEST (7) or RESPONSE (10): 'x'"),
        ("0\tenqueue\tREQUEST\t1\tnull\t5\n", "h.tsv: line 1: 6 columns are no fault (4)"),
        ("0\tput\tREQUEST\t1\tnull\t5\tnull\n", "a queue has no operation 'put'"),
        ("0\tenqueue\tREQUEST\tnull\tnull\t5\tnull\n", "line 1: an enqueue of nothing"),
        ("0\tenqueue\tREQUEST\t1\tnull\tx\tnull\n", "line 1: 'x' is no time in milliseconds"),
        (
            "0\tdequeue\tRESPONSE\tSUCCES\t1\tnull\t5\t1\tnull\t0\n",
            "there is no result 'SUCCES'; did you mean 'SUCCESS'?",
        ),
        (
            "0\tdequeue\tRESPONSE\tSUCCESS\tnull\tnull\t5\t1\tnull\t0\n",
            "line 1: SUCCESS, but nothing came",
        ),
        ("fault\tkill\tbegin\t5\n", "line 1: 'fault\\tkill\\tbegin\\t5' is no fault, start | end"),
    ],
)
def test_an_openchaos_history_that_is_damaged_is_not_judged(text: str, said: str) -> None:
    with pytest.raises(PlanError) as found:
        openchaos.parse(text, "h.tsv")
    assert said in str(found.value)


def reasons(tool: str, lines: list[list[Any]], form: Form) -> str:
    listed = rows(lines)
    found = evidence(history("h", listed, form), "h")
    ours: Counter[str] = Counter()
    for each in found.findings.counts:
        ours[each.measure] += each.count
    return "\n".join(explained(tool, listed, ours)["why"])


def test_checkers_that_look_at_dequeues_alone_see_no_loss() -> None:
    lines = [*_SENT, *_DRAIN]
    said = reasons("jepsen", lines, jepsen.FORM)
    assert "queue and fifo-queue: valid, though 1 are `lost` here: what never came" in said
    assert "valid, though" not in reasons("jepsen", [*_DRAIN], jepsen.FORM)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Q1", "1 messages of unknown outcome came: `revived` here, `recovered` there"),
        ("Q2", "lost-count is 1, and 0 are `lost` here: 1 are `loss_unknown`"),
        ("Q2", "messages that were never sent are `unexpected` on both sides"),
        ("Q4", "1 duplicate deliveries never make their total-queue invalid"),
        ("Q4", "their unordered queue breaks at a, by the order of the file alone"),
        ("Q5", "1 messages came that had failed"),
        ("Q8", "1 values were enqueued more than once"),
    ],
)
def test_why_jepsen_says_something_else(name: str, said: str) -> None:
    assert said in reasons("jepsen", QUEUE[name]["h"], jepsen.FORM)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Q1", "1 messages of unknown outcome that came are `revived` here; there every one"),
        ("Q2", "lostMessageCount is 1, and 0 are `lost` here"),
        ("Q2", "1 deliveries of messages never sent are `unexpected` here"),
        ("Q6", "2 duplicate deliveries are classified here by their source"),
        ("Q8", "1 values were enqueued more than once"),
    ],
)
def test_why_openchaos_says_something_else(name: str, said: str) -> None:
    assert said in reasons("openchaos", QUEUE[name]["h"], openchaos.FORM)


def test_a_loss_is_a_disorder_to_openchaos_alone() -> None:
    said = reasons("openchaos", _SENT, openchaos.FORM)
    assert "their order breaks at a, which never came: here a loss is no disorder" in said


def test_one_success_ends_an_outage_of_openchaos_alone() -> None:
    said = reasons("openchaos", RECOVERY["R4"]["h"], openchaos.FORM)
    assert "their outages end with one success" in said
    assert "takes an outage of one fault over into the next" in said


def test_a_fault_without_outage_explains_no_outage() -> None:
    calm = [[0, 0, "fault", "start", "k"], *_SENT, [9, 0, "fault", "end", "k"]]
    assert "their outages" not in reasons("openchaos", calm, openchaos.FORM)


@pytest.mark.parametrize("name", sorted(QUEUE))
def test_jepsen_says_the_same_of_its_own_file(name: str) -> None:
    lines = rows(QUEUE[name]["h"])
    assert jepsen_verdict.verdict(jepsen.parse(edn(lines), "h.edn")) == jepsen_verdict.verdict(
        lines
    )


@pytest.mark.parametrize("name", sorted({"Q7"} ^ {*QUEUE, *RECOVERY}))
def test_openchaos_says_the_same_of_its_own_file(name: str) -> None:
    lines = rows({**QUEUE, **RECOVERY}[name]["h"])
    read = openchaos.parse(lines_of(lines), "h.tsv")
    assert openchaos_verdict.verdict(read) == openchaos_verdict.verdict(lines)


@pytest.mark.parametrize("name", sorted(QUEUE))
def test_our_history_can_be_exported_to_their_format(name: str) -> None:
    """What both judges count of it stays the same; a value is called by its number."""
    converted = of_jepsen(QUEUE[name]["h"])
    theirs = explained("jepsen", rows_of(converted), {})["says"]["total-queue"]
    wanted = explained("jepsen", rows(QUEUE[name]["h"]), {})["says"]["total-queue"]
    numbers = ("acknowledged-count", "lost-count", "unexpected-count", "recovered-count")
    assert {key: theirs[key] for key in numbers} == {key: wanted[key] for key in numbers}


def test_a_row_keeps_its_key_and_its_latency() -> None:
    one_row = row(30, 1, "enqueue", "ok", "a", "k", 5)
    (read,) = openchaos.parse(lines_of([one_row]), "h.tsv")
    assert read == one_row


def test_an_enqueue_ends_once() -> None:
    once = [[0, 1, "enqueue", "invoke", 7], [1, 1, "enqueue", "ok", 7]]
    with pytest.raises(PlanError, match="operation 2, :type: process 1 ends its enqueue of 7 a"):
        of_jepsen([*once, [2, 1, "enqueue", "ok", 7]])
    again = [[2, 1, "enqueue", "invoke", 7], [3, 1, "enqueue", "ok", 7]]
    assert of_jepsen([*once, *again]).tables["settlements"]["attempt"] == [1, 2]
