"""`mqproof judge`: what it says of files, and how it ends."""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.histories.tables import required
from harness.pipeline.port import Pipeline
from spark_analysis.schema.tables import TABLES
from tests.rigs.histories.neutral import S, document
from tests.rigs.histories.theirs import edn, histories, rows

ROOT = Path(__file__).parents[2]
QUEUE = histories("queue_histories")
_DRAIN = [[90, 9, "drain", "invoke"], [91, 9, "drain", "ok", []]]
KEYS = ["name", "counts", "details", "claims", "outage_s", "outages", "stages", "doubts"]


def no_pipeline() -> Pipeline:
    raise AssertionError("nothing is started to judge a history")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, name: str, changes: dict[str, Any] | None = None) -> str:
    history = document({"declared": {}, "recorded": {}, **(changes or {})})
    (folder / name).write_text(json.dumps(history))
    return name


def judge(*words: str) -> int:
    return main(["judge", *words], no_pipeline)


def _without_deliveries(folder: Path, name: str) -> str:
    """Nothing was delivered: its table has no rows."""
    names = document()["tables"]["deliveries"]["columns"]
    nothing = {"rows": 0, "columns": {column: [] for column in names}}
    return write(folder, name, {"tables.deliveries": nothing})


def test_one_object_a_line_for_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [write(folder, "one.json"), _without_deliveries(folder, "two.json")]
    judge(*names, "--json")
    captured = capsys.readouterr()
    whole, lost = (json.loads(line) for line in captured.out.splitlines())
    assert list(whole) == KEYS
    assert whole["name"] == "small"
    assert whole["counts"]["state"] == 2
    assert whole["details"]["state"] == {"acknowledged": 1, "refused": 1}
    assert "lost" not in whole["counts"]
    assert (lost["counts"]["lost"], lost["details"]["lost"]) == (1, {"replicated": 1})
    assert whole["stages"]["first_success"] is None
    claim = whole["claims"]["nothing-unexpected"]
    assert list(claim) == ["outcome", "verdict", "warns", "judged", "why"]
    why = (
        "0 deliveries were of messages that were never sent; uncertain, because there were only "
        "1 delivered messages, and 100 are needed (`unexpected == 0`)"
    )
    assert (claim["outcome"], claim["judged"], claim["why"]) == ("INCONCLUSIVE", [], why)


def test_a_stage_that_one_window_missed_was_not_reached(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window = document()["facts"]["windows"][0]
    late = {**window, "number": 2, "origin_ns": 6 * S, "returned_ns": 6 * S, "ended_ns": 7 * S}
    settled = {"tables.settlements.columns.outcome": ["confirmed", "confirmed"]}
    judge(write(folder, "one.json", settled), "--json")
    judge(write(folder, "two.json", {**settled, "facts.windows": [window, late]}), "--json")
    one, two = (json.loads(line)["stages"] for line in capsys.readouterr().out.splitlines())
    assert one["first_success"] == pytest.approx(1.0, abs=1e-6)
    assert two["first_success"] is None


def test_lines_begin_with_what_was_broken(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = {"tables.deliveries.columns.payload_ok": 0}
    assert judge(write(folder, "one.json", changes)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "small (one.json): failed"
    assert lines[1] == "  counted: corrupt 1, confirmed 1"
    assert lines[2].startswith("  FAIL nothing-corrupt: 1 delivery was corrupt; the claim ")
    assert lines[-1].startswith("verdict: failed (exit code 1), 1 history, claims: ")
    outcomes = [line.split()[0] for line in lines[2:-1]]
    assert outcomes == sorted(
        outcomes, key=["FAIL", "INCONCLUSIVE", "PASS", "NOT", "caveat:"].index
    )
    assert sum(line.startswith("  NOT APPLICABLE") for line in lines) == 1


def of_jepsen_that_lost_one(folder: Path) -> str:
    """Its four messages were acknowledged, three of them came, and the drain found no more."""
    operations: list[list[Any]] = []
    for value in range(4):
        at, f = 10 * value, "enqueue"
        operations += [[at, 0, f, "invoke", value], [at + 1, 0, f, "ok", value]]
        if value:
            operations += [[at + 2, 1, "dequeue", "invoke"], [at + 3, 1, "dequeue", "ok", value]]
    (folder / "h.edn").write_text(edn(rows([*operations, *_DRAIN])))
    return "h.edn"


PROMISED = ("durable=true", "persistent=true", "no_ack=false")


def test_loss_breaks_a_promise_only_if_the_broker_declares_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = of_jepsen_that_lost_one(folder)
    assert judge(name, "--from", "jepsen") == 2
    undeclared = capsys.readouterr().out
    assert "  counted: lost 1, confirmed 4\n" in undeclared
    assert "does not record what this broker promises" in undeclared
    assert "claims depend on it: add --declare durable=true" in undeclared
    words = [word for fact in PROMISED for word in ("--declare", fact)]
    assert judge(name, "--from", "jepsen", *words) == 1
    output = capsys.readouterr().out
    assert "  FAIL confirmed-is-delivered: 1 of 4 confirmed messages was lost; the" in output
    assert "value 0 of the history (from publisher 1) was first sent at +0.000 s and" in output
    assert "confirmed (level not recorded), never delivered" in output
    assert "does not record" not in output


def of_jepsen_without_loss(folder: Path, left_out: slice) -> str:
    """A hundred messages came, and the last drain found none; without some of its lines."""
    operations: list[list[Any]] = []
    for value in range(100):
        at, f = 10 * value, "enqueue"
        operations += [[at, 0, f, "invoke", value], [at + 1, 0, f, "ok", value]]
        operations += [[at + 2, 1, "dequeue", "invoke"], [at + 3, 1, "dequeue", "ok", value]]
    operations += [[2000, 9, "drain", "invoke"], [2001, 9, "drain", "ok", []]]
    del operations[left_out]
    (folder / "h.edn").write_text(edn(rows(operations)))
    return "h.edn"


@pytest.mark.parametrize(
    ("left_out", "code"),
    [(slice(0), 0), (slice(400, 402), 2), (slice(0, 1), 2), (slice(2, 4), 1), (slice(200), 2)],
    ids=["nothing", "the drain", "a beginning", "a delivery", "half of the messages"],
)
def test_only_a_whole_jepsen_history_without_violation_passes(
    folder: Path, left_out: slice, code: int
) -> None:
    words = [word for fact in PROMISED for word in ("--declare", fact)]
    name = of_jepsen_without_loss(folder, left_out)
    assert judge(name, "--from", "jepsen", *words) == code
    assert judge(name, "--from", "jepsen") == 2, "no promise is declared"


def test_undecided_claims_with_one_reason_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(of_jepsen_that_lost_one(folder), "--from", "jepsen")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "h (h.edn): not decided"
    both = "  INCONCLUSIVE confirmed-is-delivered, confirmed-copy-is-kept: no_ack: it was not"
    assert sum(line.startswith(both) for line in lines) == 1


def test_facts_of_a_queue_that_no_row_names_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queues = document()["facts"]["queues"]
    wrong = [{**queues[0], "queue": f"{queues[0]['queue']}x"}, *queues[1:]]
    assert judge(write(folder, "one.json", {"facts.queues": wrong})) == 254
    said = capsys.readouterr().err
    assert (
        f"one.json: facts.queues[0].queue: there is no queue among the rows '{wrong[0]['queue']}'"
        in said
    )
    assert f"did you mean '{queues[0]['queue']}'?" in said
    idle = [*queues, {**queues[0], "queue": "idle"}]
    assert judge(write(folder, "two.json", {"facts.queues": idle})) != 254


def test_a_history_is_judged_by_a_claims_file_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ours.toml").write_text(
        '[[claim]]\nname = "sends-all"\nsentence = "All is confirmed."\nsource = "ours"\n'
        'quantifier = "all"\npredicate = ["lost == 0"]\n'
    )
    name = _without_deliveries(folder, "one.json")
    assert judge(name, "--claims", "ours.toml") == 1
    said = capsys.readouterr().out
    assert "FAIL sends-all: 1 of 1 confirmed messages was lost" in said
    assert "claims file ours.toml: sends-all" in said
    judge(name, "--claims", "ours.toml", "--json")
    assert json.loads(capsys.readouterr().out)["claims"]["sends-all"]["outcome"] == "FAIL"


EXAMPLE = re.compile(r"```json\n(.*?)```", re.DOTALL)
README = ROOT / "harness/histories/README.md"


def test_the_readmes_example_is_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = EXAMPLE.findall(README.read_text())
    (folder / "example.json").write_text(example)
    assert judge("example.json") == 1
    said = capsys.readouterr().out
    assert "FAIL confirmed-is-delivered: 1 of 2 confirmed messages was lost" in said
    assert "message 1 of publisher 1 (producer 1 in the raw tables) in orders" in said


def test_the_readme_lists_every_column_that_is_required() -> None:
    listed = README.read_text().partition("<!-- required columns -->")[2]
    for name, table in TABLES.items():
        line = f"| `{name}` | {', '.join(f'`{one}`' for one in required(table)) or 'none'} |"
        assert f"\n{line}\n" in listed, line


def test_a_value_that_was_never_sent_is_named_as_the_history_has_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = [[0, 0, "enqueue", "invoke", 41], [1, 0, "enqueue", "ok", 41]]
    came = [[at, 1, "dequeue", "ok", value] for at, value in ((2, 41), (3, 77), (4, 78))]
    (folder / "h.edn").write_text(edn(rows([*sent, *came])))
    assert judge("h.edn", "--from", "jepsen") == 1
    assert "value 77 of the history (from publisher 1)" in capsys.readouterr().out


def test_a_broker_that_may_forget_breaks_no_promise_by_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = of_jepsen_that_lost_one(folder)
    assert judge(name, "--from", "jepsen", "--declare", "no_ack=true", "--json") == 2
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert claims["confirmed-is-delivered"]["outcome"] == "NOT APPLICABLE"


def test_all_mistakes_of_declarations_and_files_are_reported_together(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = of_jepsen_that_lost_one(folder)
    words = ("copys=3", "copies=three", "durable", "no_ack=false", "no_ack=true")
    declared = [word for fact in words for word in ("--declare", fact)]
    assert judge(name, "missing.edn", "--from", "jepsen", *declared) == 254
    output = capsys.readouterr()
    assert output.out == ""
    for said in (
        "--declare: there is no fact 'copys'; did you mean 'copies'?",
        "--declare: copies: 'three' is not a number",
        "--declare: 'durable' is not NAME=VALUE",
        "--declare: no_ack: it is declared twice",
        "missing.edn: cannot be read: No such file or directory",
    ):
        assert said in output.err


def test_facts_of_a_history_cannot_be_redeclared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = write(folder, "one.json", {"declared": {"copies": 3}})
    assert judge(name, "--declare", "copies=3") in (0, 2)
    assert judge(name, "--declare", "copies=2") == 254
    assert "one.json: declared.copies: it is 3, and --declare says 2" in capsys.readouterr().err


def test_over_several_files_the_worst_decides(folder: Path) -> None:
    good = write(folder, "good.json")
    bad = write(folder, "bad.json", {"tables.deliveries.columns.payload_ok": 0})
    assert judge(good, bad) == judge(bad, good) == judge(bad) == 1
    assert judge(good) in (0, 2)


def test_all_mistakes_of_all_files_are_reported_without_judging(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write(folder, "good.json")
    bad = write(folder, "bad.json", {"declared.copys": 1, "facts.paced": 3})
    assert judge(good, bad, "missing.json", ".", "--json") == 254
    captured = capsys.readouterr()
    assert captured.out == ""
    for said in (
        "bad.json: declared: there is no fact 'copys'; did you mean 'copies'?",
        "bad.json: facts.paced: 3 is not bool",
        "missing.json: cannot be read: No such file or directory",
        ".: cannot be read: Is a directory",
    ):
        assert said in captured.err


TERMS = {"producer": 1, "sequence": 0, "attempt": 1, "due_ns": None, "fate": "commit"}
TWO_FATES = {"attempt": [1, 2], "fate": ["commit", "rollback"]}
SEQUENCES = ("tables.attempts.columns.sequence", "tables.settlements.columns.sequence")
ATTEMPTS = ("tables.attempts.columns.attempt", "tables.settlements.columns.attempt")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"tables.settlements.columns.sequence": [0, 9]},
            ["settlements.attempt[1]: there is no attempt 1 of message 9 of producer 1 among"],
        ),
        (
            {"tables.attempts.columns.producer": 9},
            [
                "settlements.attempt[0]: there is no attempt 1 of message 0 of producer 1 among",
                "settlements.attempt[1]: there is no attempt 1 of message 1 of producer 1 among",
            ],
        ),
        (
            dict.fromkeys(SEQUENCES, 0),
            ["attempts.attempt[1]: attempt 1 of message 0 of producer 1 stands there twice"],
        ),
        (
            {name: [1, 0] for name in ATTEMPTS},
            ["attempts.attempt[1]: 0 is below 1: attempts are numbered from 1"],
        ),
        (
            dict.fromkeys(SEQUENCES, 0)
            | {name: [1, 2] for name in ATTEMPTS}
            | {"tables.attempts.columns.key": [4, 5], "tables.attempts.columns.queue": ["a", "b"]},
            [
                "attempts.queue[1]: message 0 of producer 1 had 'a' before",
                "attempts.key[1]: message 0 of producer 1 had 4 before",
            ],
        ),
        (
            dict.fromkeys(SEQUENCES, 0)
            | {name: [1, 2] for name in ATTEMPTS}
            | {"tables.terms": {"rows": 2, "columns": {**TERMS, **TWO_FATES}}},
            ["terms.fate[1]: message 0 of producer 1 had 'commit' before"],
        ),
        (
            {"tables.terms": {"rows": 2, "columns": TERMS}},
            ["terms.attempt[1]: attempt 1 of message 0 of producer 1 stands there twice"],
        ),
        (
            {"tables.terms": {"rows": 1, "columns": {**TERMS, "attempt": 2}}},
            ["terms.attempt[0]: there is no attempt 2 of message 0 of producer 1 among"],
        ),
    ],
)
def test_records_that_contradict_each_other_are_reported_with_their_places(
    changes: dict[str, Any],
    said: list[str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = write(folder, "bad.json", changes)
    assert judge(name, "--json") == 254
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line for line in said if line not in captured.err] == []


def test_records_without_a_faulty_row_are_still_bad_input(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queues = [f"q{number}" for number in range(10)]
    columns = {"sequence": [*range(10)], "queue": queues, "intended_ns": 1, "sent_ns": 1}
    same = {"producer": 1, "attempt": 1, "key": 0, "connection": 1}
    long = {"facts.load_ended_ns": 10**18, "tables.settlements": ..., "tables.deliveries": ...}
    long["facts.queues"] = ...
    attempts = {"rows": 10, "columns": {**same, **columns}}
    assert judge(write(folder, "bad.json", {**long, "tables.attempts": attempts})) == 254
    assert "contradict each other: the load lasts longer than can be" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [(), ("x.json", "--from", "kafka"), ("x.json", "--no-such-flag")]
)
def test_bad_words_are_bad_input(words: tuple[str, ...], folder: Path) -> None:
    assert judge(*words) == 254


def test_a_history_of_jepsen_is_explained_beside_its_own_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "q5.edn").write_text(edn(rows([*QUEUE["Q5"]["h"], *_DRAIN])))
    assert judge("q5.edn", "--from", "jepsen", "--explain", "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert said["name"] == "q5"
    assert said["claims"]["refused-stays-refused"]["outcome"] == "FAIL"
    (theirs,) = said["theirs"]
    assert theirs["tool"] == "jepsen"
    assert theirs["says"]["total-queue"]["valid?"] is True
    assert any("certainly had not happened" in line for line in theirs["why"])


def test_a_history_of_openchaos_is_judged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "h.tsv").write_text(
        "0\tenqueue\tREQUEST\t0\tnull\t1700000000000\tnull\n"
        "0\tenqueue\tRESPONSE\tSUCCESS\t0\tnull\t1700000000004\t4\tnull\t0\n"
        "fault\tminor-kill\tstart\t1700000000005\n"
        "1\tdequeue\tRESPONSE\tSUCCESS\t0\tnull\t1700000000006\t1\tnull\t2\n"
    )
    judge("h.tsv", "--from", "openchaos", "--explain")
    said = capsys.readouterr().out
    assert "caveat: the faults of this history were not verified" in said
    assert "openchaos says, queue: isValid True, enqueueInvokeCount 1" in said


def test_our_history_can_be_explained_by_both_tools(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(write(folder, "one.json"), "--explain", "--json")
    said = json.loads(capsys.readouterr().out)
    assert [each["tool"] for each in said["theirs"]] == ["jepsen", "openchaos"]
    assert said["theirs"][0]["says"]["total-queue"]["acknowledged-count"] == 1


def test_the_help_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("--help") == 0
    said = capsys.readouterr().out
    for word in ("--from", "--json", "--explain", "jepsen", "openchaos"):
        assert word in said


@pytest.mark.slow
def test_a_thousand_rows_are_judged_in_three_seconds_without_spark(folder: Path) -> None:
    operations = [
        row
        for n in range(333)
        for row in (
            [3 * n, 1, "enqueue", "invoke", str(n)],
            [3 * n + 1, 1, "enqueue", "ok", str(n)],
            [3 * n + 2, 2, "dequeue", "ok", str(n)],
        )
    ]
    (folder / "h.edn").write_text(edn(rows(operations)))
    code = (
        "import sys; from harness.cli import main\n"
        "main(['judge', 'h.edn', '--from', 'jepsen', '--explain'])\n"
        "sys.exit('pyspark' in sys.modules or 'docker' in sys.modules)"
    )
    # The processor's time: the clock on the wall would ask how busy the machine is.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3
