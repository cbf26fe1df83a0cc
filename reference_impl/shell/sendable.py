"""A check that clients can send to a cluster of RocketMQ's reference, as a client would.

1. Every name server must show the topic BenchmarkTest, which every broker has, on every group.
2. Every master must confirm a message to it. A slave reports first after 5 s on a new connection,
   and until then a SYNC_MASTER answers 12, or nothing for 3 s (docs/behaviour/rocketmq.md 6).
   Clients would send such a message again, and it would be delivered twice.
"""

import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command, encode, request
from reference_impl.rocketmq.remoting.frames import Decoder
from reference_impl.rocketmq.remoting.header import HeaderError
from reference_impl.shell.self_connections import is_self_connection

TOPIC = "BenchmarkTest"
ANSWER_LIMIT_S = 5.0  # a master waits 3 s for its slave
_PAUSE_S = 0.1
_NO_ANSWER = "does not answer"
Address = tuple[str, int]


class NotYet(Exception):
    """A server that does not serve clients yet, and why."""


def obstacle(
    name_servers: Sequence[Address], masters: Mapping[str, Sequence[Address]], limit_s: float
) -> str:
    """Wait until clients can send, and return an empty text; after the limit, what cannot serve.
    `masters`: by group its master, or who may become it."""
    until_s = time.monotonic() + limit_s
    left = [*(("", (each,)) for each in name_servers), *masters.items()]
    reason = ""
    while left:
        group, addresses = left[0]
        try:
            _one_confirms(group, addresses) if group else _shows(addresses[0], masters)
            del left[0]
        except NotYet as error:
            places = ", ".join(f"{host}:{port}" for host, port in addresses)
            reason = f"{group or 'the name server'} at {places} {error}"
            if time.monotonic() > until_s:
                return reason
            # A refusal comes at once, and servers need the processor meanwhile.
            time.sleep(_PAUSE_S)  # noqa: TID251
    return ""


def _one_confirms(group: str, addresses: Sequence[Address]) -> None:
    """Raises NotYet."""
    for address in addresses[:-1]:
        with suppress(NotYet):
            return _confirms(group, address)
    return _confirms(group, addresses[-1])


def _shows(address: Address, masters: Mapping[str, Sequence[Address]]) -> None:
    answer = _ask(address, request(RequestCode.GET_ROUTEINFO_BY_TOPIC, 1, {"topic": TOPIC}))
    if answer.header.code != Code.SUCCESS:
        raise NotYet(f"shows no route (code {answer.header.code})")
    route = msgspec.json.decode(answer.body)
    shown = {one["brokerName"] for one in route["queueDatas"]}
    if lacking := sorted(masters.keys() - shown):
        raise NotYet(f"does not show {', '.join(lacking)}")


def _confirms(group: str, address: Address) -> None:
    fields = {
        "producerGroup": "mqproof_reference",
        "topic": TOPIC,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "0",
        "sysFlag": "0",
        "bornTimestamp": str(time.time_ns() // 1_000_000),
        "flag": "0",
        "properties": "",
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "false",
    }
    answer = _ask(address, request(RequestCode.SEND_MESSAGE, 1, fields, group.encode()))
    if answer.header.code != Code.SUCCESS:
        raise NotYet(f"confirms nothing (code {answer.header.code})")


def _ask(address: Address, command: Command) -> Command:
    """Raises NotYet."""
    try:
        with socket.create_connection(address, ANSWER_LIMIT_S) as link:
            if is_self_connection(link):
                raise ConnectionRefusedError("nothing listens there yet")
            link.sendall(encode(command))
            return _answer(link)
    except (OSError, HeaderError) as error:
        raise NotYet(f"{_NO_ANSWER} ({error or type(error).__name__})") from error


def _answer(link: socket.socket) -> Command:
    decoder = Decoder()
    while octets := link.recv(65536):
        with suppress(StopIteration):
            return next(each for each in decoder.feed(octets) if each.is_answer)
    raise NotYet(_NO_ANSWER)
