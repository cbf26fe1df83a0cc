"""Brokers' logs: the end of each is kept, and it is said how much is not."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cluster.log_tails import BYTES_MAX, Tail, append_all, append_new, gap, those_cut
from harness.deploy import labels
from harness.deploy.compose.cluster import ComposeCluster, FoundContainers, LogsInPlace
from harness.deploy.external import cluster as external_module
from harness.deploy.external.cluster import ExternalCluster
from harness.deploy.local import cluster as local_module
from harness.deploy.local.cluster import LocalCluster
from harness.run.shared_cluster import KeptLogs

LINES = b"".join(b"line %05d\n" % number for number in range(2000))


def test_a_cut_log_keeps_its_end_and_marks_the_gap(tmp_path: Path) -> None:
    source, target = tmp_path / "broker", tmp_path / "broker.log"
    source.write_bytes(LINES)
    assert append_new(source, target, 0, 1100) == (22_000, 20_900)
    assert target.read_bytes() == (b"[mqproof: 20,900 bytes are left out here]\n" + LINES[-1100:])


def test_the_next_fetch_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    source, target = tmp_path / "broker", tmp_path / "broker.log"
    source.write_bytes(b"one\n")
    assert append_new(source, target, 0, 8) == (4, 0)
    assert append_new(source, target, 4, 8) == (4, 0)
    with source.open("ab") as log:
        log.write(b"two\n" * 3)
    assert append_new(source, target, 4, 8) == (16, 4)
    assert target.read_bytes() == b"one\n" + gap(4) + b"two\ntwo\n"
    assert append_new(tmp_path / "gone", target, 7, 8) == (7, 0)


def test_a_tail_holds_little_more_than_it_keeps(tmp_path: Path) -> None:
    tail = Tail(1000)
    for _ in range(200):
        tail.add(b"x" * 99_999)
    tail.add(b"the end")
    tail.append_to(tmp_path / "log")
    assert tail.left_out == 200 * 99_999 + 7 - 1000
    assert (tmp_path / "log").read_bytes() == gap(tail.left_out) + b"x" * 993 + b"the end"


def test_evidence_of_verdicts_is_fetched_whole(tmp_path: Path) -> None:
    source, target = tmp_path / "said", tmp_path / "truth" / "ref1.jsonl"
    source.write_bytes(b"t" * 5_000_000)
    assert append_all(source, target, 0) == 5_000_000
    assert target.stat().st_size == 5_000_000


def test_only_logs_that_are_cut_are_reported() -> None:
    assert those_cut([("a.log", 0), ("b.log", 7)]) == {"b.log": 7}
    assert BYTES_MAX == 33_554_432


class Engine:
    """Docker's client, as far as a log is asked of it; `said` is what each container has said."""

    def __init__(self) -> None:
        self.said: dict[str, bytes] = {}
        self.containers = self

    def get(self, container: str) -> Any:
        said = self.said[container]

        def logs(stream: bool, follow: bool) -> Iterator[bytes]:
            assert stream and not follow
            return (said[at : at + 700] for at in range(0, len(said), 700))

        return SimpleNamespace(logs=logs)


@pytest.fixture
def compose() -> tuple[ComposeCluster, Engine]:
    """A cluster that has only what fetching logs needs."""
    engine, cluster = Engine(), object.__new__(ComposeCluster)
    places = {(labels.ROLE_PROCESS, host, host): f"id-{host}" for host in ("rmq1", "rmq2")}
    attributes: dict[str, Any] = {
        "client": engine,
        "_containers": FoundContainers(places),
        "_fetched": {},
        "log_bytes_max": 1100,
        "worker_logs": LogsInPlace(),
    }
    for name, value in attributes.items():
        setattr(cluster, name, value)
    return cluster, engine


def test_fetches_keep_the_end_of_container_logs(
    compose: tuple[ComposeCluster, Engine], tmp_path: Path
) -> None:
    cluster, engine = compose
    engine.said = {"id-rmq1": LINES, "id-rmq2": b"quiet\n"}
    assert asyncio.run(cluster.fetch_logs(tmp_path)) == {"rmq1.log": 20_900}
    engine.said = {"id-rmq1": LINES + b"more\n", "id-rmq2": b"quiet\n"}
    assert asyncio.run(cluster.fetch_logs(tmp_path)) == {}
    logs = tmp_path / "broker_logs"
    assert (logs / "rmq1.log").read_bytes() == gap(20_900) + LINES[-1100:] + b"more\n"
    assert (logs / "rmq2.log").read_bytes() == b"quiet\n"


def without_processes(of: type, folder: Path) -> Any:
    """A cluster of this machine that has only what fetching logs needs."""
    site = SimpleNamespace(
        names=("ref1",),
        log=lambda name: folder / f"{name}.log",
        output=lambda name: folder / f"{name}.out",
        truth=lambda name: folder / f"{name}.truth.jsonl",
        commands_log=folder / "commands.log",
    )
    cluster: Any = object.__new__(of)
    for name, value in {"site": site, "_fetched": {}, "log_bytes_max": 1100}.items():
        setattr(cluster, name, value)
    return cluster


@pytest.mark.parametrize(
    ("of", "module"), [(LocalCluster, local_module), (ExternalCluster, external_module)]
)
def test_logs_are_copied_apart_from_the_event_loop(
    of: type, module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agent and workers end by themselves when the loop is silent for seconds."""
    threads = set[int]()

    def copy(*words: Any) -> tuple[int, int]:
        threads.add(threading.get_ident())
        return append_new(*words)

    monkeypatch.setattr(module, "append_new", copy)
    for log in ("ref1.log", "commands.log"):
        (tmp_path / log).write_bytes(LINES)
    run_folder = tmp_path / "run"
    asyncio.run(without_processes(of, tmp_path).fetch_logs(run_folder))
    assert any(log.read_bytes().endswith(LINES[-1100:]) for log in run_folder.rglob("*.log"))
    assert threads.isdisjoint({threading.get_ident()})
    assert threads


def test_logs_of_runs_that_are_played_together_are_copied_apart(tmp_path: Path) -> None:
    copied = list[int]()

    async def fetch_logs(folder: Path) -> dict[str, int]:
        (folder / "rmq1.log").write_bytes(LINES)
        return {}

    async def apart(work: Callable[[], object]) -> None:
        copied.append(len(list((tmp_path / "run").glob("*"))))
        work()

    cluster: Any = SimpleNamespace(fetch_logs=fetch_logs)
    kept = KeptLogs(tmp_path / "kept", apart)
    asyncio.run(kept.fetch(cluster, tmp_path / "run"))
    assert copied == [0]
    assert (tmp_path / "run" / "rmq1.log").read_bytes() == LINES
