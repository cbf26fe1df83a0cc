"""The prober writes down what every name server shows, also while one of them hangs."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.workers.periodic import every
from harness.workers.protocol import EXIT_CLOSED, Role, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import Code, RemotingAnswer, Request
from harness.workers.rocketmq import prober as prober_module
from harness.workers.rocketmq.prober import PERIOD_S, TICK_NS, Prober
from spark_analysis.schema.tables import CLIENT_EVENTS, PROBES
from tests.rigs.rocketmq.fake_server import FakeServer, fake, said
from tests.rigs.workers import rig

TOPIC = "mqproof_run_orders"
MASTER, SLAVE = ("0", "a:1"), ("1", "b:1")


def shows(*addresses: tuple[str, str]) -> Callable[[Request], Command | None]:
    """A name server that knows broker-a at these addresses."""
    broker = {"brokerName": "broker-a", "brokerAddrs": dict(addresses)}
    queues = {"brokerName": "broker-a", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
    route = {"brokerDatas": [broker], "queueDatas": [queues]}

    def answer(request: Request) -> Command | None:
        if request.code is Code.GET_BROKER_CLUSTER_INFO:
            return said(json.dumps({"brokerAddrTable": {"broker-a": broker}}).encode())
        assert request.fields["topic"] == TOPIC
        return said(json.dumps(route).encode())

    return answer


def nothing(request: Request) -> Command | None:
    return None


def config(folder: Path, *servers: FakeServer) -> WorkerConfig:
    endpoints = tuple(server.endpoint for server in servers)
    settings = rig.config(
        Role.PROBER, folder, number=900, queue=TOPIC, client="rocketmq-java-5.3.3"
    )
    return WorkerConfig(**{**_parts(settings), "endpoints": endpoints})


def _parts(settings: WorkerConfig) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in WorkerConfig.__dataclass_fields__}


@contextlib.asynccontextmanager
async def probing(settings: WorkerConfig, ticks: bool = True) -> AsyncIterator[Recorder]:
    """Ready, and looking; closed at the end."""
    ready = asyncio.Event()
    recorder = Recorder(settings, rig.fail)
    prober = Prober(settings, recorder, ready.set)
    running = asyncio.create_task(prober.run())
    end_ticks = every(TICK_NS / 1e9, prober.tick if ticks else lambda: None)
    try:
        async with asyncio.timeout(rig.LIMIT_S):
            await ready.wait()
        yield recorder
    finally:
        running.cancel()
        await asyncio.wait([running])
        end_ticks()
        await prober.close(nicely=True)
        recorder.flush()
        recorder.close()


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prober_module, "PERIOD_S", 0.02)
    monkeypatch.setattr(prober_module, "LIMIT_S", 2.0)


def looks(settings: WorkerConfig, recorder: Recorder) -> Counter[tuple[str, str, bool]]:
    recorder.flush()
    rows = rig.rows(settings, PROBES)
    return Counter((row["kind"], row["target"], bool(row["ok"])) for row in rows)


def test_the_prober_queries_at_least_twice_a_second() -> None:
    assert PERIOD_S < 0.5


@pytest.mark.usefixtures("_quick")
def test_each_name_server_is_queried_while_another_hangs(
    tmp_path: Path,
) -> None:
    async def story() -> WorkerConfig:
        async with fake("ns1", shows(MASTER, SLAVE)) as one, fake("ns2", nothing) as two:
            settings = config(tmp_path, one, two)
            async with probing(settings) as recorder:
                wanted = {
                    (kind, name, name == "ns1")
                    for kind in ("route", "cluster")
                    for name in ("ns1", "ns2")
                }
                await rig.until(
                    lambda: all(looks(settings, recorder)[each] >= 5 for each in wanted)
                )
            return settings

    settings = asyncio.run(story())
    rows = rig.rows(settings, PROBES)
    assert {row["prober"] for row in rows} == {900}
    assert all(row["started_ns"] <= row["ended_ns"] for row in rows)
    answered = [row for row in rows if row["ok"]]
    shown = {(row["kind"], row["detail"]) for row in answered}
    brokers = "broker-a master at a:1; broker-a slave 1 at b:1"
    assert shown == {
        ("cluster", brokers),
        ("route", f"{brokers}; broker-a 4 read and 4 write queues"),
    }
    assert {row["target"] for row in answered} == {"ns1"}
    assert _unanswered(settings) <= {"ns2"}
    silent = [row for row in rows if row["target"] == "ns2"]
    assert all(row["detail"].startswith("no answer within ") for row in silent)


@pytest.mark.usefixtures("_quick")
def test_only_a_name_server_dropping_a_broker_is_an_event(
    tmp_path: Path,
) -> None:
    async def story() -> WorkerConfig:
        async with (
            fake("ns1", shows(MASTER, SLAVE)) as one,
            fake("ns2", shows(MASTER, SLAVE)) as two,
        ):
            settings = config(tmp_path, one, two)
            async with probing(settings) as recorder:
                everything = {
                    (kind, name, True) for kind in ("route", "cluster") for name in ("ns1", "ns2")
                }
                await rig.until(lambda: looks(settings, recorder).keys() >= everything)
                two.answer = shows(SLAVE)
                await rig.until(lambda: len(_events(settings, recorder, "dropped")) == 2)
                two.answer = lambda request: said(code=RemotingAnswer.TOPIC_NOT_EXIST)
                await rig.until(lambda: len(_events(settings, recorder, "dropped")) == 4)
                two.answer = shows(("0", "b:1"))
                await rig.until(lambda: _events(settings, recorder, "master at b:1"))
            return settings

    settings = asyncio.run(story())
    events = [(row["kind"], row["detail"]) for row in rig.rows(settings, CLIENT_EVENTS)]
    lines = [f"{kind}: {detail.partition(' (within')[0]}" for kind, detail in events]
    assert [one for one in lines if "ns1" in one] == [
        "route changed: ns1 shows broker-a master at a:1",
        "route changed: ns1 shows broker-a slave 1 at b:1",
        "route changed: ns1 shows broker-a 4 read and 4 write queues",
        "cluster changed: ns1 shows broker-a master at a:1",
        "cluster changed: ns1 shows broker-a slave 1 at b:1",
    ]
    assert [one for one in lines if "route changed: ns2 " in one][3:] == [
        "route changed: ns2 dropped broker-a master at a:1",
        "route changed: ns2 dropped broker-a slave 1 at b:1",
        "route changed: ns2 dropped the queues of broker-a",
        "route changed: ns2 shows broker-a master at b:1",
        "route changed: ns2 shows broker-a 4 read and 4 write queues",
    ]


def _events(settings: WorkerConfig, recorder: Recorder, words: str) -> list[str]:
    recorder.flush()
    return [row["detail"] for row in rig.rows(settings, CLIENT_EVENTS) if words in row["detail"]]


@pytest.mark.usefixtures("_quick")
def test_a_restarted_name_server_is_reported_as_silent_and_answering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So short that this process hardly stands still meanwhile, whatever the machine is doing.
    monkeypatch.setattr(prober_module, "LIMIT_S", 0.2)

    async def story() -> WorkerConfig:
        async with fake("ns1", shows(MASTER)) as one, fake("ns2", shows(MASTER)) as two:
            settings = config(tmp_path, one, two)
            async with probing(settings) as recorder:
                await rig.until(lambda: looks(settings, recorder)[("route", "ns2", True)])
                two.answer = nothing
                two.connections[-1].close()
                limit_s = 60.0
                await rig.until(
                    lambda: _events(settings, recorder, "ns2 route: "), limit_s=limit_s
                )
                two.answer = shows(MASTER)
                words = "ns2 route: after "
                await rig.until(lambda: _events(settings, recorder, words), limit_s=limit_s)
            return settings

    settings = asyncio.run(story())
    events = [(row["kind"], row["detail"]) for row in rig.rows(settings, CLIENT_EVENTS)]
    about = [kind for kind, detail in events if detail.startswith("ns2 route: ")]
    assert about[:2] == ["unanswered", "answered again"]


@pytest.mark.usefixtures("_quick")
def test_queries_missed_in_a_prober_stall_are_no_event(
    tmp_path: Path,
) -> None:
    async def story() -> WorkerConfig:
        async with fake("ns1", shows(MASTER)) as one, fake("ns2", nothing) as two:
            settings = config(tmp_path, one, two)
            async with probing(settings, ticks=False) as recorder:
                await rig.until(lambda: looks(settings, recorder)[("route", "ns2", False)] >= 5)
            return settings

    settings = asyncio.run(story())
    missed = [row["detail"] for row in rig.rows(settings, PROBES) if not row["ok"]]
    assert all(detail.endswith("this prober itself stood still meanwhile") for detail in missed)
    assert _unanswered(settings) == set()


def _unanswered(settings: WorkerConfig) -> set[str]:
    events = rig.rows(settings, CLIENT_EVENTS)
    return {row["detail"].partition(" ")[0] for row in events if row["kind"] == "unanswered"}


@pytest.mark.slow
def test_prober_process_reports_ready_probes_and_closes_its_log(tmp_path: Path) -> None:
    async def story() -> tuple[WorkerConfig, int]:
        async with fake("ns1", shows(MASTER)) as one:
            settings = config(tmp_path, one)
            worker = await rig.Process.spawn(settings)
            worker.say(do="start", at_ns=0)
            await rig.until(lambda: len(rig.rows(settings, PROBES)) >= 4)
            worker.say(do="stop_load")
            worker.say(do="close")
            return settings, await worker.exit_code()

    settings, code = asyncio.run(story())
    assert code == EXIT_CLOSED
    assert (Path(settings.log) / "closed.json").exists()


# --- who leads ---------------------------------------------------------------------------------


def votes(leader: str, term: int) -> Callable[[Request], Command | None]:
    """A member of broker-a that follows this leader."""

    def answer(request: Request) -> Command | None:
        body = json.loads(request.body)
        assert (body["group"], body["remoteId"]) == ("broker-a", "n0")
        if request.code is Code.DLEDGER_METADATA:
            return said(json.dumps({"code": 200, "leaderId": leader}).encode(), 200)
        assert request.code is Code.DLEDGER_HEART_BEAT
        return said(json.dumps({"code": 406, "term": term}).encode(), 200)

    return answer


def controls(request: Request) -> Command | None:
    """A controller that leads."""
    if request.code is Code.CONTROLLER_GET_METADATA_INFO:
        fields = {"controllerLeaderId": "n0", "isLeader": "true"}
        return Command(replace(said().header, fields=fields), b"")
    assert json.loads(request.body) == ["broker-a"]
    state = {"masterAddress": "a:1", "masterEpoch": 1, "syncStateSetEpoch": 1}
    return said(json.dumps({"replicasInfoTable": {"broker-a": state}}).encode())


def voter(server: FakeServer, query: str) -> dict[str, Any]:
    """As a run tells of it."""
    where = {"host": "rkd1", "word": server.name, "address": "127.0.0.1", "port": server.port}
    return {**where, "query": query, "groups": ["broker-a"], "id": "n0", "peer": "n1"}


@pytest.mark.usefixtures("_quick")
def test_each_voter_is_queried_for_its_leader_and_changes_recorded(tmp_path: Path) -> None:
    async def story() -> WorkerConfig:
        async with (
            fake("ns1", shows(MASTER)) as server,
            fake("broker-a-0", votes("n0", 1)) as member,
            fake("name-server", controls) as controller,
        ):
            own = {"voters": [voter(member, "members"), voter(controller, "controllers")]}
            settings = replace(config(tmp_path, server), own=own)
            places = ("rkd1/broker-a-0", "rkd1/name-server")
            async with probing(settings) as recorder:
                for _ in range(2):
                    before = looks(settings, recorder)
                    await rig.until(
                        lambda seen=before: all(  # type: ignore[misc]
                            looks(settings, recorder)["leader", one, True]
                            > seen["leader", one, True] + 3
                            for one in places
                        )
                    )
                    member.answer = votes("n1", 2)
            return settings

    settings = asyncio.run(story())
    said_by: dict[str, set[str]] = {}
    for row in rig.rows(settings, PROBES):
        if row["kind"] == "leader":
            said_by.setdefault(row["target"], set()).add(row["detail"])
    assert said_by["rkd1/broker-a-0"] >= {
        "broker-a: n0 leads, term 1",
        "broker-a: n1 leads, term 2",
    }
    assert said_by["rkd1/name-server"] == {
        "controllers: n0 leads; broker-a: a:1 is master, epoch 1; "
        "broker-a in sync: no broker, epoch 1"
    }
    events = [row["detail"] for row in rig.rows(settings, CLIENT_EVENTS)]
    assert any("says broker-a: n1 leads, term 2" in one for one in events)


@pytest.mark.usefixtures("_quick")
def test_a_voters_answer_alone_does_not_make_the_prober_ready(
    tmp_path: Path,
) -> None:
    async def story() -> bool:
        async with fake("ns1", nothing) as server, fake("broker-a-0", votes("n0", 1)) as member:
            own = {"voters": [voter(member, "members")]}
            settings = replace(config(tmp_path, server), own=own)
            ready = asyncio.Event()
            recorder = Recorder(settings, rig.fail)
            prober = Prober(settings, recorder, ready.set)
            running = asyncio.create_task(prober.run())
            await rig.until(lambda: looks(settings, recorder)["leader", "rkd1/broker-a-0", True])
            running.cancel()
            await asyncio.wait([running])
            await prober.close(nicely=True)
            recorder.close()
            return ready.is_set()

    assert asyncio.run(story()) is False
