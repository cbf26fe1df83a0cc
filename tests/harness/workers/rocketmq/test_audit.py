"""The audit finds what a broker holds, wherever it stands, and says what it could not read."""

import asyncio
import json
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harness.workers.protocol import EXIT_CLOSED, Endpoint, Role, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.records import Flags, StoredMessage
from harness.workers.remoting.requests import Code, RemotingAnswer, Request, TopicQueue
from harness.workers.rocketmq.audit import LogAuditor
from spark_analysis.schema.body import Identity, encode
from spark_analysis.schema.tables import DELIVERIES, PROBES
from spark_analysis.schema.words import Redelivered
from tests.rigs.histories.ways import Via
from tests.rigs.rocketmq.fake_server import fake, said
from tests.rigs.rocketmq.stored_messages import Broker, answer, message, written
from tests.rigs.workers import rig

TOPIC = "orders"
BODY_BYTES = 100


def sent(sequence: int) -> bytes:
    identity = Identity(rig.RUN_NUMBER, 1, sequence, 1, 0, 5)
    return encode(identity, BODY_BYTES)


@dataclass
class Log:
    """A broker with these topics (queues each) and messages; `silent` queues never answer."""

    topics: dict[str, int]
    messages: dict[TopicQueue, list[StoredMessage]] = field(default_factory=dict)
    offsets: dict[str, dict[int, int]] = field(default_factory=dict)
    silent: frozenset[TopicQueue] = frozenset()

    def put(self, queue: TopicQueue, body: bytes, flags: int = 0, **properties: str) -> None:
        there = self.messages.setdefault(queue, [])
        record = replace(message(len(there), queue), body=body, flags=flags, properties=properties)
        there.append(record)

    def answer(self, request: Request) -> Command | None:
        match request.code:
            case Code.GET_ALL_TOPIC_CONFIG:
                return said(self._topics())
            case Code.GET_ALL_CONSUMER_OFFSET:
                return said(self._offsets())
        queue = TopicQueue(request.fields["topic"], int(request.fields["queueId"]))
        there = self.messages.get(queue, [])
        if queue in self.silent:
            return None
        if request.code is not Code.PULL_MESSAGE:
            return Broker(0, len(there)).answer(request)
        if queue.topic not in self.topics:
            return said(code=RemotingAnswer.TOPIC_NOT_EXIST)
        at = int(request.fields["queueOffset"])
        fields = {"nextBeginOffset": len(there), "minOffset": 0, "maxOffset": len(there)}
        return answer(0, fields, *there[at:])

    def _topics(self) -> bytes:
        table = {
            name: {"topicName": name, "readQueueNums": count, "writeQueueNums": count, "perm": 6}
            for name, count in self.topics.items()
        }
        return json.dumps({"topicConfigTable": table}).encode()

    def _offsets(self) -> bytes:
        tables = (
            f'"{name}":{{{",".join(f"{number}:{offset}" for number, offset in table.items())}}}'
            for name, table in self.offsets.items()
        )
        return f'{{"offsetTable":{{{",".join(tables)}}}}}'.encode()


@dataclass
class Audited:
    deliveries: list[dict[str, Any]]
    probes: list[tuple[str, str, int, str]]  # kind, target, ok, detail
    said: list[dict[str, Any]]

    @property
    def found(self) -> list[tuple[str, int, int]]:
        """Place, offset, sequence."""
        return [(row["broker"], row["offset"], row["sequence"]) for row in self.deliveries]

    @property
    def offsets(self) -> list[tuple[str, int, str]]:
        """Target, ok, detail."""
        kind = "consumer offset"
        return [(target, ok, detail) for of, target, ok, detail in self.probes if of == kind]

    @property
    def doubt(self) -> str:
        (end,) = self.said
        assert end["complete"] is (not end["doubt"])
        return str(end["doubt"])


def config(folder: Path, endpoint: Endpoint, **rest: Any) -> WorkerConfig:
    client = "rocketmq-java-5.3.3"
    settings = rig.config(Role.AUDITOR, folder, queue=TOPIC, client=client, **rest)
    return replace(settings, endpoints=(endpoint,))


def audited(folder: Path, log: Log, **rest: Any) -> Audited:
    async def story() -> Audited:
        async with fake("broker-a-0", log.answer) as server:
            settings = config(folder, server.endpoint, **rest)
            reports: list[dict[str, Any]] = []
            recorder = Recorder(settings, rig.fail)
            auditor = LogAuditor(settings, recorder, lambda: None, reports.append)
            async with asyncio.timeout(3 * rig.LIMIT_S):
                await auditor.run()
            await auditor.close(nicely=True)
            recorder.close()
        probes = [
            (row["kind"], row["target"], row["ok"], row["detail"])
            for row in rig.rows(settings, PROBES)
        ]
        return Audited(rig.rows(settings, DELIVERIES), probes, reports)

    return asyncio.run(story())


def test_every_message_of_the_topic_is_found_with_its_offset(tmp_path: Path) -> None:
    log = Log({TOPIC: 2, "invoices": 1})
    for sequence, number in enumerate([0, 1, 0]):
        log.put(TopicQueue(TOPIC, number), sent(sequence))
    log.put(TopicQueue("invoices", 0), sent(9))
    end = audited(tmp_path, log)
    assert end.doubt == ""
    assert sorted(end.found) == [
        ("broker-a-0 orders/0", 0, 0),
        ("broker-a-0 orders/0", 1, 2),
        ("broker-a-0 orders/1", 0, 1),
    ]
    row = end.deliveries[0]
    assert (row["via"], row["redelivered"]) == (Via.AUDIT, Redelivered.NOT_REPORTED)
    assert (row["header_ok"], row["payload_ok"], row["run_ok"]) == (1, 1, 1)
    assert row["queue"] == "orders"


def test_set_aside_or_returned_messages_are_found_in_place(tmp_path: Path) -> None:
    log = Log(
        {
            TOPIC: 1,
            "SCHEDULE_TOPIC_XXXX": 1,
            "RMQ_SYS_TRANS_HALF_TOPIC": 1,
            "%RETRY%g": 1,
            "%DLQ%g": 1,
        }
    )
    log.put(TopicQueue("SCHEDULE_TOPIC_XXXX", 0), sent(0), REAL_TOPIC=TOPIC)
    log.put(TopicQueue("SCHEDULE_TOPIC_XXXX", 0), sent(7), REAL_TOPIC="invoices")
    log.put(TopicQueue("RMQ_SYS_TRANS_HALF_TOPIC", 0), sent(1), REAL_TOPIC=TOPIC)
    log.put(TopicQueue("%RETRY%g", 0), sent(2), RETRY_TOPIC=TOPIC)
    log.put(TopicQueue("%DLQ%g", 0), sent(3), RETRY_TOPIC=TOPIC)
    end = audited(tmp_path, log)
    assert end.doubt == ""
    assert {row["sequence"] for row in end.deliveries if row["via"] == Via.HALF} == {1}
    assert sorted(end.found) == [
        ("broker-a-0 %DLQ%g/0", 0, 3),
        ("broker-a-0 %RETRY%g/0", 0, 2),
        ("broker-a-0 RMQ_SYS_TRANS_HALF_TOPIC/0", 0, 1),
        ("broker-a-0 SCHEDULE_TOPIC_XXXX/0", 0, 0),
    ]


def test_a_half_message_without_an_answer_stays_a_half_message(tmp_path: Path) -> None:
    log = Log({TOPIC: 1, "TRANS_CHECK_MAX_TIME_TOPIC": 1})
    log.put(TopicQueue("TRANS_CHECK_MAX_TIME_TOPIC", 0), sent(1), REAL_TOPIC=TOPIC)
    assert [row["via"] for row in audited(tmp_path, log).deliveries] == [Via.HALF]


def test_half_messages_that_the_broker_keeps_are_a_caveat(tmp_path: Path) -> None:
    log = Log({TOPIC: 1})
    log.put(TopicQueue("RMQ_SYS_TRANS_HALF_TOPIC", 0), sent(1), REAL_TOPIC=TOPIC)
    end = audited(tmp_path, log)
    assert end.found == []
    assert "RMQ_SYS_TRANS_HALF_TOPIC/0: messages of" in end.doubt
    assert "code 17" in end.doubt


class Slave(Log):
    """Of RocketMQ 5: it refuses every pull, and shows what stands at a position."""

    def answer(self, request: Request) -> Command | None:
        places, end = self._places()
        match request.code:
            case Code.PULL_MESSAGE:
                remark = "[REJECTREQUEST]system busy, start flow control for a while"
                return Command(Header(RemotingAnswer.SYSTEM_BUSY, 0, RESPONSE, remark))
            case Code.GET_BROKER_RUNTIME_INFO:
                table = {"commitLogMinOffset": "0", "commitLogMaxOffset": str(end)}
                return said(json.dumps({"table": table}).encode())
            case Code.VIEW_MESSAGE_BY_ID:
                return said(places[int(request.fields["offset"])])
        return super().answer(request)

    def _places(self) -> tuple[dict[int, bytes], int]:
        places, end = {}, 0
        for there in self.messages.values():
            for one in there:
                places[end] = written(replace(one, position=end))
                end += len(places[end])
        return places, end


def test_log_of_a_broker_without_readable_queues_is_walked(tmp_path: Path) -> None:
    log = Slave({TOPIC: 1, "invoices": 1}, offsets={"orders@orders_readers": {0: 1}})
    log.put(TopicQueue(TOPIC, 0), sent(0))
    log.put(TopicQueue("invoices", 0), sent(9))
    log.put(TopicQueue(TOPIC, 0), sent(1))
    log.put(TopicQueue("RMQ_SYS_TRANS_HALF_TOPIC", 0), sent(2), REAL_TOPIC=TOPIC)
    end = audited(tmp_path, log)
    assert end.doubt == ""
    assert end.found == [
        ("broker-a-0 orders/0", 0, 0),
        ("broker-a-0 orders/0", 1, 1),
        ("broker-a-0 RMQ_SYS_TRANS_HALF_TOPIC/0", 0, 2),
    ]
    length = sum(len(written(one)) for there in log.messages.values() for one in there)
    assert end.probes == [
        ("log read", "broker-a-0", 1, f"positions 0 to {length}: 4 messages"),
        ("consumer offset", "broker-a-0 orders/0 orders_readers", 0, "committed 1 of 2, 1 behind"),
    ]


def test_a_body_that_a_client_packed_is_known_again(tmp_path: Path) -> None:
    log = Log({TOPIC: 1})
    log.put(TopicQueue(TOPIC, 0), zlib.compress(sent(4)), Flags.COMPRESSED)
    log.put(TopicQueue(TOPIC, 0), b"no zlib data", Flags.COMPRESSED)
    end = audited(tmp_path, log)
    assert [(row["header_ok"], row["sequence"]) for row in end.deliveries] == [(1, 4), (0, 0)]


def test_each_groups_offset_stands_against_the_queues_greatest(tmp_path: Path) -> None:
    offsets = {f"{topic}@orders_readers": {0: 2, 1: 1} for topic in (TOPIC, "invoices")}
    log = Log({TOPIC: 2}, offsets=offsets)
    for sequence in range(3):
        log.put(TopicQueue(TOPIC, 0), sent(sequence))
    log.put(TopicQueue(TOPIC, 1), sent(3))
    end = audited(tmp_path, log)
    assert end.offsets == [
        ("broker-a-0 orders/0 orders_readers", 0, "committed 2 of 3, 1 behind"),
        ("broker-a-0 orders/1 orders_readers", 1, "committed 1 of 1, 0 behind"),
    ]
    read = [probe for probe in end.probes if probe[0] == "queue read"]
    assert ("queue read", "broker-a-0 orders/0", 1, "offsets 0 to 3: 3 messages") in read


def test_offset_past_a_shorter_slave_log_is_reported_as_such(tmp_path: Path) -> None:
    log = Log({TOPIC: 1}, offsets={"orders@orders_readers": {0: 5}})
    log.put(TopicQueue(TOPIC, 0), sent(0))
    (offset,) = audited(tmp_path, log).offsets
    assert offset[1:] == (0, "committed 5 of 1, 4 beyond its end")


def test_a_queue_without_commits_of_the_runs_readers_is_reported(
    tmp_path: Path,
) -> None:
    log = Log(
        {TOPIC: 3, "%RETRY%g": 1}, offsets={"orders@g": {0: 1}, "orders@orders_readers": {2: 1}}
    )
    for sequence, number in enumerate([0, 0, 2]):
        log.put(TopicQueue(TOPIC, number), sent(sequence))
    assert audited(tmp_path, log).offsets == [
        ("broker-a-0 orders/0 g", 0, "committed 1 of 2, 1 behind"),
        ("broker-a-0 orders/0 orders_readers", 0, "never committed of 2, 2 behind"),
        ("broker-a-0 orders/1 orders_readers", 1, "never committed of 0, 0 behind"),
        ("broker-a-0 orders/2 orders_readers", 1, "committed 1 of 1, 0 behind"),
    ]


def test_readers_unknown_to_the_broker_have_a_row_per_queue(tmp_path: Path) -> None:
    log = Log({TOPIC: 2})
    log.put(TopicQueue(TOPIC, 1), sent(0))
    assert [ok for _, ok, _ in audited(tmp_path, log).offsets] == [1, 0]


SILENT, REFUSED = None, said(code=RemotingAnswer.SYSTEM_BUSY)
OFFSETS_FAIL = [(SILENT, "no answer within 0.1 s"), (REFUSED, "code 2"), (said(b"[]"), "object")]


@pytest.mark.parametrize(("reply", "reason"), OFFSETS_FAIL)
def test_a_log_is_read_whole_though_offsets_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Command | None, reason: str
) -> None:
    class Secretive(Log):
        def answer(self, request: Request) -> Command | None:
            is_offsets = request.code is Code.GET_ALL_CONSUMER_OFFSET
            return reply if is_offsets else super().answer(request)

    monkeypatch.setattr("harness.workers.rocketmq.audit.ASK_LIMIT_S", 0.1)
    log = Secretive({TOPIC: 1})
    log.put(TopicQueue(TOPIC, 0), sent(0))
    end = audited(tmp_path, log)
    assert (end.doubt, end.found) == ("", [("broker-a-0 orders/0", 0, 0)])
    ((target, ok, detail),) = end.offsets
    assert (target, ok) == ("broker-a-0", 0)
    assert detail.startswith("unknown: ") and reason in detail


def test_a_log_is_walked_whole_though_ends_of_queues_are_unknown(tmp_path: Path) -> None:
    class Secretive(Slave):
        def answer(self, request: Request) -> Command | None:
            is_end = request.code is Code.GET_MAX_OFFSET
            return REFUSED if is_end else super().answer(request)

    log = Secretive({TOPIC: 1})
    log.put(TopicQueue(TOPIC, 0), sent(0))
    end = audited(tmp_path, log)
    assert (end.doubt, len(end.found), len(end.offsets)) == ("", 1, 1)


def test_the_limit_of_the_audit_does_not_undo_what_was_read(tmp_path: Path) -> None:
    class Slow(Log):
        def answer(self, request: Request) -> Command | None:
            is_offsets = request.code is Code.GET_ALL_CONSUMER_OFFSET
            return SILENT if is_offsets else super().answer(request)

    log = Slow({TOPIC: 1})
    log.put(TopicQueue(TOPIC, 0), sent(0))
    end = audited(tmp_path, log, limit_s=2.0)
    assert (end.doubt, len(end.found), end.offsets) == ("", 1, [])


def test_silent_queue_is_named_and_the_others_are_read(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("harness.workers.rocketmq.audit.ASK_LIMIT_S", 0.2)
    log = Log({TOPIC: 2}, silent=frozenset({TopicQueue(TOPIC, 1)}))
    log.put(TopicQueue(TOPIC, 0), sent(0))
    end = audited(tmp_path, log)
    assert end.found == [("broker-a-0 orders/0", 0, 0)]
    assert end.doubt.startswith("orders/1: no answer within ")


def test_a_broker_without_the_topic_is_no_empty_one(tmp_path: Path) -> None:
    assert audited(tmp_path, Log({"invoices": 1})).doubt == "the broker has no topic orders"


def test_silent_broker_ends_at_the_limit_with_that_reason(tmp_path: Path) -> None:
    class Silent(Log):
        def answer(self, request: Request) -> Command | None:
            return None

    end = audited(tmp_path, Silent({}), limit_s=0.2)
    assert end.doubt == "not read to its end within 0.2 s"


def test_each_audited_broker_has_its_own_doubt(tmp_path: Path) -> None:
    first, last = Log({TOPIC: 1}), Log({TOPIC: 1})
    first.put(TopicQueue(TOPIC, 0), sent(0))
    last.put(TopicQueue(TOPIC, 0), sent(1))
    reports: list[dict[str, Any]] = []

    async def story() -> WorkerConfig:
        async with (
            fake("broker-a-0", first.answer) as one,
            fake("broker-b-0", lambda request: None) as silent,
            fake("broker-b-1", last.answer) as other,
        ):
            settings = config(tmp_path, one.endpoint, limit_s=0.5)
            ways = (one.endpoint, silent.endpoint, other.endpoint)
            settings = replace(settings, endpoints=ways)
            recorder = Recorder(settings, rig.fail)
            auditor = LogAuditor(settings, recorder, lambda: None, reports.append)
            await auditor.run()
            await auditor.close(nicely=True)
            recorder.close()
            return settings

    found = rig.rows(asyncio.run(story()), DELIVERIES)
    (end,) = reports
    doubt = "not read to its end within 0.5 s"
    assert (end["complete"], end["doubt"], end["doubts"]) == (False, doubt, ["", doubt, ""])
    assert {row["sequence"] for row in found} == {0, 1}
    assert len({row["connection"] for row in found}) == 2


@pytest.mark.slow
def test_auditor_process_reads_reports_and_closes_its_log(tmp_path: Path) -> None:
    log = Log({TOPIC: 1})
    log.put(TopicQueue(TOPIC, 0), sent(0))

    async def story() -> tuple[WorkerConfig, dict[str, Any], int]:
        async with fake("broker-a-0", log.answer) as server:
            settings = config(tmp_path, server.endpoint)
            worker = await rig.Process.spawn(settings)
            end = await worker.hear("drained")
            worker.say(do="close")
            return settings, end, await worker.exit_code()

    settings, end, code = asyncio.run(story())
    assert (end["complete"], end["queue"], code) == (True, "orders", EXIT_CLOSED)
    assert len(rig.rows(settings, DELIVERIES)) == 1
