"""What clients' events tell claims of each window."""

from pathlib import Path
from typing import Any

import pytest

from harness.run_folder.client_events import STRUCK
from harness.run_folder.manifest import Manifest, WorkerRecord
from harness.run_folder.seal import LOGS, seal
from spark_analysis.schema.facts import Window
from spark_analysis.schema.log import LogWriter
from spark_analysis.schema.tables import CLIENT_EVENTS
from tests.harness.run_folder.test_seal import manifest

ORIGIN = 1_000


def told(
    tmp_path: Path, events: list[tuple[int, int, str, str]], struck: object = None
) -> dict[str, Any]:
    """The state of the first of two windows. `events`: worker, time, kind and detail."""
    made: Manifest = manifest()
    made.workers += [WorkerRecord("publisher-2", 2, "publisher"), WorkerRecord("c", 3, "consumer")]
    for number, origin in ((1, ORIGIN), (2, 5 * ORIGIN)):
        made.windows.append(Window(number, "kill", origin, origin, None, True, False, ""))
    made.state["windows"] = {"1": {STRUCK: struck}, "2": {}}
    made.save(tmp_path)
    for worker in (1, 2, 3):
        with LogWriter(tmp_path / LOGS / f"worker-{worker}") as log:
            for number, at_ns, kind, detail in events:
                if number == worker:
                    log.append(CLIENT_EVENTS, number, at_ns, kind, 1, None, detail)
    state: dict[str, Any] = seal(tmp_path).state["windows"]["1"]
    return state


def test_a_publisher_counts_by_the_name_server_that_it_asked_last_before_the_fault(
    tmp_path: Path,
) -> None:
    state = told(
        tmp_path,
        [
            *((1, 100, "attached", "rkt2"), (1, 900, "attached", "rkt1")),
            *((2, 100, "attached", "rkt1"), (2, 1_100, "attached", "rkt2")),
            (3, 100, "attached", "rkt2"),
        ],
        ["rkt1"],
    )
    assert state["publishers_attached_to_target"] == 2


@pytest.mark.parametrize(
    ("events", "struck", "count"),
    [
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt1")], ["rkt1"], 1),
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt1")], ["rkt1", "rkt2"], 2),
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt2")], ["rkt1"], 0),
        ([(1, 100, "attached", "rkt2"), (2, 100, "attached", "rkt2")], [], 0),
        ([(1, 100, "attached", "rkt1")], ["rkt1"], None),  # the other never said
        ([(1, 100, "attached", "rkt1"), (2, 100, "attached", "rkt1")], None, None),
        ([], ["rkt1"], None),
        ([], {"moot": "none"}, {"moot": "none"}),
    ],
)
def test_who_never_said_whom_it_asks_leaves_it_unknown(
    tmp_path: Path, events: list[tuple[int, int, str, str]], struck: object, count: object
) -> None:
    assert told(tmp_path, events, struck)["publishers_attached_to_target"] == count


def test_a_cancellation_counts_in_the_window_after_whose_beginning_it_came(
    tmp_path: Path,
) -> None:
    events = [(3, at_ns, "cancelled", "") for at_ns in (900, 1_000, 4_999, 5_000)]
    assert told(tmp_path, events)["consumers_cancelled"] == 2
