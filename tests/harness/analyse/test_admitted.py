"""Truth logs as nodes leave them, a node that was killed included."""

from pathlib import Path

from harness.analyse.admitted import HELD, REDELIVERED, Admission, read
from reference_impl.misbehave import truth
from reference_impl.protocol.queues import Message
from spark_analysis.schema.body import Identity, encode

RUN = 77


def message(sequence: int, run: int = RUN, producer: int = 1) -> Message:
    body = encode(identity(sequence, run, producer), 256)
    return Message(b"id", "", "orders", b"", body, True)


def identity(sequence: int, run: int = RUN, producer: int = 1) -> Identity:
    return Identity(run, producer, sequence, 1, 3, 123)


def written(folder: Path, node: str, octets: bytes) -> None:
    (folder / "truth").mkdir(exist_ok=True)
    (folder / "truth" / f"{node}.jsonl").write_bytes(octets)


def test_logs_of_all_nodes_are_matched_by_body_heads(tmp_path: Path) -> None:
    written(tmp_path, "a", truth.admitted("drop", "orders", message(1), message(2)).lines)
    written(tmp_path, "b", truth.overtaken("reorder", "orders", message(3), message(4)).lines)
    assert read(tmp_path, RUN) == (
        Admission("drop", identity(1)),
        Admission("drop", identity(2)),
        Admission("reorder", identity(3), identity(4)),
    )


def test_line_cut_in_two_by_a_kill_is_no_admission(tmp_path: Path) -> None:
    lines = truth.admitted("drop", "orders", message(1), message(2)).lines
    written(tmp_path, "a", lines[:-1])
    assert read(tmp_path, RUN) == (Admission("drop", identity(1)),)


def test_canaries_other_runs_and_strangers_are_left_out(tmp_path: Path) -> None:
    stranger = Message(b"id", "", "orders", b"", b"what is this", True)
    runs = message(1, run=RUN - 1), message(2, run=RUN + 1)
    others = message(1, producer=-1), *runs, stranger
    written(tmp_path, "a", truth.admitted("drop", "orders", *others, message(3)).lines)
    assert read(tmp_path, RUN) == (Admission("drop", identity(3)),)


def test_an_honest_run_admits_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, RUN) == ()


def test_both_sides_use_the_same_words_for_a_messages_fate() -> None:
    assert (HELD, REDELIVERED) == (truth.HELD, truth.REDELIVERED)
