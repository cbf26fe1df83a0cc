"""The native driver over each of the two packages: what it says that it can do, it does."""

import asyncio
import ctypes
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from harness.deploy import doctor
from harness.workers.clients.port import Answer, Fetched, LinkLost, UnknownBacklog
from harness.workers.clients.rocketmq import native_found
from harness.workers.clients.rocketmq.native import (
    NativeClient,
    NativeConsumer,
    NativePublisher,
    NoNative,
)
from harness.workers.clients.rocketmq.native_found import WITHOUT_LIBRARY, look
from harness.workers.clients.rocketmq.native_package import whole_body
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema.body import HEADER_BYTES, Identity, encode
from spark_analysis.schema.words import Outcome
from tests.harness.workers.rocketmq.native_packages import (
    EXPORTED,
    NEW,
    OLD,
    CMQException,
    CSendResult,
    Library,
    Out,
    installed,
)
from tests.rigs.workers.rig import config, until

SHARED = ("sync", "oneway", "ordered", "delayed", "concurrent", "orderly")
FEATURES = {OLD: {*SHARED, "async"}, NEW: {*SHARED}}
SERVERS = (Endpoint("host1", "10.0.0.1", 9876), Endpoint("host2", "10.0.0.2", 9877))
ROUTE_S = 0.2  # within which somebody would come beside the first send, if he were let
each_package = pytest.mark.parametrize("package", [OLD, NEW])


class Heard:
    """A listener of both kinds."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.came: list[Fetched] = []

    def answered(self, answers: Sequence[Answer]) -> None:
        self.answers += answers

    def all_confirmed(self, tags: Sequence[int], clocks_ns: Sequence[int], raw: str) -> None:
        raise AssertionError(f"each has an answer of its own: {raw} {tags} {clocks_ns}")

    def fetched(self, messages: Sequence[Fetched]) -> None:
        self.came += messages

    def noticed(self, kind: str, detail: str) -> None:
        raise AssertionError(f"no client is connected: {kind} {detail}")


def settings(folder: Path, role: Role, **rest: Any) -> WorkerConfig:
    options = RocketOptions(producer=rest.pop("producer", "sync"), **rest.pop("options", {}))
    made = config(role, folder, own=asdict(options), client="rocketmq-native", **rest)
    return replace(made, endpoints=SERVERS)


def body(sequence: int, length: int = 256) -> bytes:
    return encode(Identity(1, 1, sequence, 1, sequence % 3, 0), length)


def sent(config: WorkerConfig, bodies: Sequence[bytes], then: Callable[[], None]) -> Heard:
    """By a publisher of the package that is installed; `then` is asked until all is answered."""
    heard = Heard()

    async def story() -> None:
        link = await NativeClient(config).publisher(config.endpoints[0], heard)  # type: ignore[arg-type]
        for each in bodies:
            link.publish(each)

        def answered() -> bool:
            then()
            return len(heard.answers) >= len(bodies)

        await until(answered)
        await link.close(1.0)

    asyncio.run(story())
    return heard


def read(library: Library, config: WorkerConfig, count: int) -> list[bytes]:
    """By a consumer of the package that is installed."""
    heard = Heard()

    async def story() -> None:
        link = await NativeClient(config).consumer(config.endpoints[0], heard)  # type: ignore[arg-type]
        await link.consume()
        orderly = "Orderly" if RocketOptions.from_json(config.own).consumer == "orderly" else ""
        _, hear = library.arguments[f"RegisterMessageCallback{orderly}"]
        for each in range(1, count + 1):
            heard_it = asyncio.create_task(asyncio.to_thread(hear, 1, each))
            await until(lambda each=each: len(heard.came) == each)  # type: ignore[misc]
            link.acknowledge(heard.came[-1].tag)
            assert await heard_it == 0
        await link.close(1.0)

    asyncio.run(story())
    return [message.body for message in heard.came]


@each_package
def test_reported_features_are_those_of_the_package_and_driver(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    library = installed(monkeypatch, package)
    found = look()
    assert found.refused == ""
    assert set(found.features) == FEATURES[package]
    assert ("CreateTransactionProducer" in library.exported) is (package == NEW)
    row = doctor.client_row("native", {"library": found.library, **_json(found)}, True)
    assert row.ok
    assert ("async" in row.found) is (package == OLD)


def _json(found: native_found.NativeLibrary) -> dict[str, Any]:
    return {"package": found.package, "features": found.features, "refused": found.refused}


@each_package
@pytest.mark.parametrize("mode", ["sync", "async", "oneway", "ordered"])
def test_each_reported_way_of_sending_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, mode: str
) -> None:
    library = installed(monkeypatch, package)
    worker = settings(tmp_path, Role.PUBLISHER, producer=mode)
    bodies = [body(each) for each in range(20)]
    if mode not in FEATURES[package]:
        with pytest.raises(NoNative, match=f"2.0.0 cannot do {mode}; it can do sync"):
            sent(worker, bodies, lambda: None)
        return

    def answer() -> None:
        while library.out:
            library.out.pop().stored(CSendResult(0))

    heard = sent(worker, bodies, answer)
    outcome = Outcome.UNCONFIRMED if mode == "oneway" else Outcome.CONFIRMED
    assert {each.outcome for each in heard.answers} == {outcome}
    assert sorted(each.tag for each in heard.answers) == list(range(1, 21))
    assert sorted(library.log) == sorted(bodies)
    assert library.bodies == {}  # every message was freed


@each_package
def test_producer_is_configured_before_start_and_listed_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    library = installed(monkeypatch, package)
    sent(settings(tmp_path, Role.PUBLISHER, body_bytes=200_000), [body(1)], lambda: None)
    before = list(library.arguments)[: list(library.arguments).index("StartProducer")]
    said = {name: library.arguments[name][1:] for name in before if name.startswith("SetProducer")}
    assert said == {
        "SetProducerNameServerAddress": (b"10.0.0.1:9876;10.0.0.2:9877",),
        "SetProducerInstanceName": (b"mqproof.run.publisher",),
        "SetProducerSendMsgTimeout": (3000,),
        "SetProducerMaxMessageSize": (200_000,),
        "SetProducerCompressLevel": (0,),
    }


def test_key_is_a_sharding_key_if_the_package_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = installed(monkeypatch, NEW)
    sent(settings(tmp_path, Role.PUBLISHER, producer="ordered"), [body(2)], lambda: None)
    assert library.arguments["SendMessageOrderlyByShardingKey"][2] == b"2"
    assert "CreateOrderlyProducer" in library.arguments


@each_package
def test_a_delayed_message_gets_its_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    library = installed(monkeypatch, package)
    options = {"delayed_percent": 100, "delay_level": 4}
    sent(settings(tmp_path, Role.PUBLISHER, options=options), [body(1)], lambda: None)
    assert library.arguments["SetDelayTimeLevel"][1] == 4


@each_package
@pytest.mark.parametrize("consumer", ["concurrent", "orderly"])
@pytest.mark.parametrize("length", [HEADER_BYTES, 256, 4096, 8192, 1_000_000])
def test_body_wrapped_in_a_library_envelope_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, consumer: str, length: int
) -> None:
    library = installed(monkeypatch, package)
    bodies = [body(each, length) for each in range(3)]
    sent(settings(tmp_path, Role.PUBLISHER, body_bytes=length), bodies, lambda: None)
    reading = settings(tmp_path, Role.CONSUMER, body_bytes=length, options={"consumer": consumer})
    assert sorted(read(library, reading, len(bodies))) == bodies
    assert library.arguments["SetPushConsumerInstanceName"][1] == b"mqproof.run.consumer"


@pytest.mark.parametrize(
    ("text", "most", "got"),
    [
        (b"abc\0beyond", 200, b"abc"),  # of somebody else
        (b"", 200, b""),
        (b"abcdef", 2, b"ab"),
        (body(1, 300) + b"beyond", 400, body(1, 300)),
        (body(1, 300)[:100] + b"beyond", 100, body(1, 300)[:100]),  # cut short by its broker
        (body(1, 300)[:20], 20, body(1, 300)[:20]),
        # Its header is not to be believed: no more than a header is read.
        (body(1, 300)[:9] + b"?" + body(1, 300)[10:], 400, None),
    ],
)
def test_body_is_read_only_within_its_header_and_record_bound(
    text: bytes, most: int, got: bytes | None
) -> None:
    place = ctypes.create_string_buffer(text)
    wanted = text[:HEADER_BYTES] if got is None else got
    assert whole_body(ctypes.addressof(place), most) == wanted


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_first_send_runs_alone_because_it_fetches_the_route(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    library = installed(monkeypatch, OLD)
    inside, routed, came_beside = threading.Lock(), threading.Event(), threading.Event()

    def send(*sending: Any) -> int:
        """As the library: who comes while the route is fetched goes away without one."""
        if not routed.is_set():
            if not inside.acquire(blocking=False):
                came_beside.set()
                return 14
            came_beside.wait(ROUTE_S)
            routed.set()
        if mode == "async":
            sending[2](CSendResult(0))
        return 0

    monkeypatch.setattr(library, f"_SendMessage{mode.capitalize()}", send, raising=False)
    worker = settings(tmp_path, Role.PUBLISHER, producer=mode, confirm_window=16)
    heard = sent(worker, [body(each) for each in range(32)], lambda: None)
    assert not came_beside.is_set()
    assert {each.outcome for each in heard.answers} == {Outcome.CONFIRMED}


def test_only_outstanding_async_sends_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = installed(monkeypatch, OLD)
    worker = settings(tmp_path, Role.PUBLISHER, producer="async")
    heard = Heard()

    async def story() -> None:
        link = NativePublisher(worker, heard)  # type: ignore[arg-type]
        await link.open()
        for burst in range(1, 11):
            for number in range(500):
                link.publish(body(number))
            await until(lambda: len(library.out) == 500)
            assert len(link._async._out) == 500
            while library.out:
                library.out.pop().stored(CSendResult(0))
            await until(lambda burst=burst: len(heard.answers) == 500 * burst)  # type: ignore[misc]
            assert len(link._async._out) == 0
            assert len(link._async._spent) <= 1024
            assert link._producer._callback_refs == []
        await link.close(1.0)

    asyncio.run(story())


@pytest.mark.parametrize("returned", [0, 14])
def test_failed_send_with_callback_and_return_is_answered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returned: int
) -> None:
    library = installed(monkeypatch, OLD)

    def refuse(out: Out) -> int:
        out.refused(CMQException(msg=b"No route info of this topic"))
        return returned

    library.at_once = refuse
    worker = settings(tmp_path, Role.PUBLISHER, producer="async")
    (answer,) = sent(worker, [body(1)], lambda: None).answers
    assert (answer.outcome, answer.tag) == (Outcome.UNKNOWN, 1)
    assert answer.raw == "ProducerSendAsyncFailed No route info of this topic"


def test_failed_send_with_return_only_is_answered_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, OLD).at_once = lambda _: 14
    worker = settings(tmp_path, Role.PUBLISHER, producer="async")
    (answer,) = sent(worker, [body(1)], lambda: None).answers
    assert (answer.outcome, answer.raw) == (Outcome.UNKNOWN, "RocketMQException status 14")


@each_package
@pytest.mark.parametrize("symbol", ["SetByteMessageBody", "SetDelayTimeLevel"])
def test_unmakeable_message_is_a_failed_send_and_the_lane_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, symbol: str
) -> None:
    library = installed(monkeypatch, package)
    real, calls = getattr(library, f"_{symbol}", lambda *_: 0), itertools.count()

    def fails_once(*arguments: Any) -> int:
        return real(*arguments) or int(next(calls) == 0)

    monkeypatch.setattr(library, f"_{symbol}", fails_once, raising=False)
    options = {"delayed_percent": 100, "delay_level": 4}
    worker = settings(tmp_path, Role.PUBLISHER, options=options, confirm_window=1)
    first, second = sent(worker, [body(1), body(2)], lambda: None).answers
    assert (first.outcome, first.raw) == (Outcome.UNKNOWN, "RocketMQException status 1")
    assert (second.outcome, library.log) == (Outcome.CONFIRMED, [body(2)])
    assert library.bodies == {}


@each_package
@pytest.mark.parametrize("symbol", ["SetProducerInstanceName", "SetProducerCompressLevel"])
def test_client_without_a_required_capability_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, package: str, symbol: str
) -> None:
    library = installed(monkeypatch, package)
    library.exported = EXPORTED[package] - {symbol}
    found = look()
    assert found.refused.startswith(f"{package} cannot be driven, for nothing sets or reports")
    assert f"pip install rocketmq==0.4.4` into an environment without {WITHOUT_LIBRARY}" in (
        doctor.client_row("native", _json(found), True).remedy
    )


def test_a_package_with_unknown_names_is_refused_and_never_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed(monkeypatch, NEW)
    from rocketmq import client

    del client.Producer.set_name_server_address
    assert "nothing sets or reports producers' name servers" in look().refused
    assert "no Producer.set_namesrv_addr, no Producer.set_name_server_address" in look().refused


def test_setup_failure_is_a_link_that_could_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = installed(monkeypatch, OLD)
    worker = settings(tmp_path, Role.CONSUMER)
    library._Subscribe = lambda *_: 1  # type: ignore[attr-defined]

    async def story() -> None:
        with pytest.raises(LinkLost, match="status 1"):
            await NativeConsumer(worker, Heard()).consume()  # type: ignore[arg-type]

    asyncio.run(story())


def test_a_backlog_that_the_library_hides_is_no_lost_link(tmp_path: Path) -> None:
    async def story() -> None:
        consumer = NativeConsumer(settings(tmp_path, Role.CONSUMER), Heard())  # type: ignore[arg-type]
        with pytest.raises(UnknownBacklog, match="cannot report what its group has left"):
            await consumer.ready_messages()

    asyncio.run(story())
