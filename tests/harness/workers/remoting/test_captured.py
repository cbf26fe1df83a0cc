"""What real servers answered is read as it was meant; tests/rocketmq/capture.py asks again."""

from pathlib import Path

import pytest

from harness.systems.rocketmq.core.layout import VERSIONS
from harness.workers.remoting import answers, records, requests
from harness.workers.remoting.commands import Command, Decoder
from harness.workers.remoting.errors import RequestRefused
from harness.workers.remoting.headers import Serialisation
from harness.workers.remoting.records import TRANSACTION_BITS, Flags
from harness.workers.remoting.requests import TopicQueue
from harness.workers.remoting.routes import TopicQueues, View
from harness.workers.remoting.tables import Topic
from spark_analysis.schema.body import Body, decode
from spark_analysis.schema.views import Shown
from tests.rocketmq.capture import (
    BODY_BYTES,
    COMMITTED,
    DELAYED,
    FOLDER,
    GROUP,
    HALVES,
    IDENTITY,
    QUEUE,
    TOPIC,
)

VERSION_NUMBERS = {"4.9.7": 407, "5.3.3": 479}
BROKER_A = (
    Shown("broker-a", 0, "127.0.0.1:30110"),
    Shown("broker-a", 1, "127.0.0.1:30120"),
)
ROUTE = View(BROKER_A, (TopicQueues("broker-a", 4, 4, 6),))
CLUSTER = View((*BROKER_A, Shown("broker-b", 0, "127.0.0.1:30210")))
NO_TOPIC = requests.route("nowhere")
SENT = Body(IDENTITY, True)


@pytest.fixture(params=VERSIONS)
def folder(request: pytest.FixtureRequest) -> Path:
    return FOLDER / str(request.param)


def said(folder: Path, name: str) -> Command:
    (command,) = Decoder().feed((folder / f"{name}.frame").read_bytes())
    assert command.answers
    assert command.header.opaque == 7
    return command


def test_a_server_reports_its_version(folder: Path) -> None:
    assert said(folder, "cluster").header.version == VERSION_NUMBERS[folder.name]


@pytest.mark.parametrize("name", ["route", "route_to_an_old_client", "route_in_binary"])
def test_a_route_is_the_same_in_every_form(folder: Path, name: str) -> None:
    assert answers.route(requests.route(TOPIC), said(folder, name)) == ROUTE


def test_an_old_client_gets_numeric_addresses_without_quotes(folder: Path) -> None:
    assert b'{0:"127.0.0.1:30110"' in said(folder, "route_to_an_old_client").body
    assert b'{"0":"127.0.0.1:30110"' in said(folder, "route").body


def test_the_cluster_is_read_though_it_is_no_json(folder: Path) -> None:
    assert b'{0:"127.0.0.1:30110"' in said(folder, "cluster").body
    assert answers.cluster(requests.cluster_info(), said(folder, "cluster")) == CLUSTER


def test_an_unknown_topic_is_shown_nowhere(folder: Path) -> None:
    view = answers.route(NO_TOPIC, said(folder, "route_of_no_topic"))
    assert str(view) == "nothing"


def test_old_brokers_answer_in_the_requests_form_new_in_json(folder: Path) -> None:
    """Answer as 4.9.7 does in the form of the request, and as 5.3.3 does in JSON."""
    of_version = {"4.9.7": Serialisation.ROCKETMQ, "5.3.3": Serialisation.JSON}
    assert said(folder, "committed").form is Serialisation.JSON
    for name in ("committed_in_binary", "route_in_binary", "messages_in_binary"):
        assert said(folder, name).form is of_version[folder.name]


def test_a_broker_reports_its_topics(folder: Path) -> None:
    topics = answers.topics(requests.topic_configs(), said(folder, "topics"))
    assert Topic(TOPIC, 4, 4, 6) in topics
    assert Topic("SCHEDULE_TOPIC_XXXX", 18, 18, 6) in topics


def test_a_broker_reports_its_consumers_offsets(folder: Path) -> None:
    offsets = answers.offsets(requests.consumer_offsets(), said(folder, "offsets"))
    assert offsets[GROUP, QUEUE] == COMMITTED


def test_a_broker_describes_itself(folder: Path) -> None:
    runtime = answers.runtime(requests.runtime_info(), said(folder, "runtime"))
    assert runtime["brokerVersion"] == str(VERSION_NUMBERS[folder.name])


def test_offsets_of_a_queue_are_numbers(folder: Path) -> None:
    assert answers.offset(requests.min_offset(QUEUE), said(folder, "min_offset")) == 0
    assert answers.offset(requests.max_offset(QUEUE), said(folder, "max_offset")) == 3


def test_a_queue_of_no_topic_is_empty_and_no_error(folder: Path) -> None:
    nowhere = TopicQueue("nowhere", 0)
    least = answers.offset(requests.min_offset(nowhere), said(folder, "min_offset_of_no_topic"))
    most = answers.offset(requests.max_offset(nowhere), said(folder, "max_offset_of_no_topic"))
    assert max(0, least) == most == 0


@pytest.mark.parametrize("name", ["committed", "committed_in_binary"])
def test_an_offset_that_was_committed_is_reported_in_either_form(folder: Path, name: str) -> None:
    request = requests.consumer_offset(GROUP, QUEUE)
    assert answers.committed(request, said(folder, name)) == COMMITTED


def test_group_without_offset_starts_at_the_head_of_young_queues(folder: Path) -> None:
    request = requests.consumer_offset("nobody", QUEUE)
    assert answers.committed(request, said(folder, "committed_by_nobody")) == 0


@pytest.mark.parametrize("name", ["messages", "messages_in_binary"])
def test_messages_are_read_as_they_were_sent(folder: Path, name: str) -> None:
    _as_sent(folder, name)


def test_a_slave_of_4_9_7_gives_them_too() -> None:
    _as_sent(FOLDER / "4.9.7", "messages_of_the_slave")


def test_a_slave_of_5_3_3_serves_no_pull(folder: Path) -> None:
    for name in ("messages_of_the_slave", "messages_beyond_the_end_of_the_slave"):
        refuses = answers.gives_nothing(said(folder, name))
        assert refuses is (folder.name == "5.3.3")


def test_slave_returns_the_record_at_a_log_position(folder: Path) -> None:
    request = requests.view(0)
    answer = said(folder, "record_of_the_slave")
    answers.taken(request, answer)
    message = records.read(answer.body)
    assert (message.topic, message.queue, message.offset, message.position) == (TOPIC, 0, 0, 0)
    assert decode(message.body) == SENT
    assert message.record_bytes == len(answer.body)


def test_a_slave_says_where_its_log_begins_and_ends(folder: Path) -> None:
    for name in ("runtime", "runtime_of_the_slave"):
        first, end = answers.log(requests.runtime_info(), said(folder, name))
        assert first == 0 < end
    with pytest.raises(RequestRefused, match="code 1, can not find message by the offset"):
        answers.taken(requests.view(1 << 30), said(folder, "record_beyond_the_end_of_the_slave"))


def _as_sent(folder: Path, name: str) -> None:
    pulled = answers.pulled(requests.pull(QUEUE, 0), said(folder, name))
    assert (pulled.next_offset, pulled.min_offset, pulled.max_offset) == (3, 0, 3)
    plain, marked, packed = pulled.messages
    assert [one.offset for one in pulled.messages] == [0, 1, 2]
    assert [decode(records.content(one)) for one in pulled.messages] == [SENT] * 3
    assert all(one.body_ok for one in pulled.messages)
    assert {(one.topic, one.queue) for one in pulled.messages} == {(TOPIC, 0)}
    assert [bool(one.flags & Flags.COMPRESSED) for one in (plain, packed)] == [False, True]
    assert (len(plain.body), len(records.content(packed))) == (BODY_BYTES, BODY_BYTES)
    assert {"KEYS": "k1 k2", "TAGS": "red"}.items() <= marked.properties.items()
    assert plain.position < marked.position < packed.position
    assert {one.store_host for one in pulled.messages} == {"127.0.0.1:30110"}
    assert plain.born_host.startswith("127.0.0.1:")
    assert plain.born_ms == 1_700_000_000_000


def test_changed_body_fails_the_brokers_checksum(folder: Path) -> None:
    octets = bytearray(said(folder, "messages").body)
    at = octets.index(b"MQP1")
    octets[at + 60] ^= 1
    first, second, _ = records.read_all(bytes(octets))
    assert (first.body_ok, second.body_ok) == (False, True)


def test_slave_of_4_9_7_retries_pulls_beyond_the_end() -> None:
    answer = said(FOLDER / "4.9.7", "messages_beyond_the_end_of_the_slave")
    pulled = answers.pulled(requests.pull(QUEUE, 9), answer)
    assert (pulled.next_offset, pulled.more, pulled.moved) == (9, True, False)


@pytest.mark.parametrize(
    ("name", "offset", "more", "moved"),
    [
        ("messages_at_the_end", 3, False, False),
        ("messages_beyond_the_end", 3, True, True),
        ("messages_of_an_empty_queue", 0, False, False),
    ],
)
def test_an_empty_pull_has_the_next_offset(
    folder: Path, name: str, offset: int, more: bool, moved: bool
) -> None:
    pulled = answers.pulled(requests.pull(QUEUE, 3), said(folder, name))
    assert pulled.messages == ()
    assert (pulled.next_offset, pulled.more, pulled.moved) == (offset, more, moved)


def test_pull_from_no_topic_is_refused_in_the_brokers_words(folder: Path) -> None:
    with pytest.raises(RequestRefused, match=r"code 17, (the )?topic\[nowhere\] not exist"):
        answers.pulled(
            requests.pull(TopicQueue("nowhere", 0), 0), said(folder, "messages_of_no_topic")
        )


def test_a_delayed_message_carries_its_topic_and_queue(folder: Path) -> None:
    (one,) = answers.pulled(requests.pull(DELAYED, 0), said(folder, "delayed")).messages
    assert (one.topic, one.queue) == (DELAYED.topic, DELAYED.number)
    assert one.properties["REAL_TOPIC"] == TOPIC
    assert one.properties["REAL_QID"] == "0"
    assert decode(one.body) == SENT


def test_a_half_carries_its_topic_and_no_transaction_state(folder: Path) -> None:
    half, *_ = answers.pulled(requests.pull(HALVES, 0), said(folder, "halves")).messages
    assert half.properties["REAL_TOPIC"] == TOPIC
    assert half.flags & TRANSACTION_BITS == 0
    assert decode(half.body) == SENT
