"""A backlog of a broker that keeps a log: it waits on disk, whole, and outlives the process.

A million messages are the nightly part.
"""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command, encode, request
from reference_impl.rocketmq.remoting.frames import Decoder
from tests.reference_impl.rocketmq.talking import pulling, sending

pytestmark = pytest.mark.slow

ADDRESS, PORT = "127.93.7.1", 10911  # an address that no other test has
BODY = 256
BURST = 200  # requests that are out at a time
SLACK = 24 << 20  # what a backlog may cost in memory, however long it is
LIMIT_S = 60.0


class Link:
    """One connection, and what is asked on it."""

    def __init__(self) -> None:
        self._socket = socket.create_connection((ADDRESS, PORT), LIMIT_S)
        self._decoder = Decoder()
        self._number = 0

    def ask(self, code: int, every: list[tuple[dict[str, object], bytes]]) -> list[Command]:
        """All at once; the answers, in order."""
        for fields, body in every:
            self._number += 1
            texts = {name: str(value) for name, value in fields.items()}
            self._socket.sendall(encode(request(code, self._number, texts, body)))
        answers: list[Command] = []
        while len(answers) < len(every):
            octets = self._socket.recv(1 << 16)
            assert octets, "the broker hung up"
            answers += self._decoder.feed(octets)
        return answers

    def close(self) -> None:
        self._socket.close()


@contextmanager
def broker(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", Link]]:
    """On what is in the folder; killed in the end."""
    config = folder / "broker.conf"
    config.write_text(
        f"brokerName=broker-a\nbindAddress={ADDRESS}\nlistenPort={PORT}\n"
        f"storePathRootDir={folder / 'store'}\nmappedFileSizeCommitLog={16 << 20}\n"
    )
    command = [sys.executable, "-m", "reference_impl", "broker", str(config)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert "ready" in process.stdout.readline()
        link = Link()
        yield process, link
        link.close()
    finally:
        process.kill()
        process.wait()


def resident(process: "subprocess.Popen[str]") -> int:
    pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


def body(number: int) -> bytes:
    return b"%010d" % number + bytes(BODY)


def put(link: Link, numbers: range) -> None:
    every = [(sending("orders"), body(number)) for number in numbers]
    for answer in link.ask(RequestCode.SEND_MESSAGE_V2, every):
        assert answer.header.code == Code.SUCCESS, answer.header.remark


def read(link: Link, offset: int) -> tuple[list[int], int]:
    """The numbers that are there, and where it goes on."""
    (answer,) = link.ask(RequestCode.PULL_MESSAGE, [(pulling("orders", 0, offset), b"")])
    after = int(answer.header.fields["nextBeginOffset"])
    mark = bytes(BODY)
    found = [answer.body[:at][-10:] for at in _places(answer.body, mark)]
    return [int(one) for one in found], after


def _places(octets: bytes, mark: bytes) -> Iterator[int]:
    at = octets.find(mark)
    while at >= 0:
        yield at
        at = octets.find(mark, at + len(mark))


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_a_backlog_needs_no_memory_and_survives_kills_in_order(count: int, tmp_path: Path) -> None:
    with broker(tmp_path) as (process, link):
        put(link, range(BURST))
        begun = resident(process)
        for number in range(BURST, count, BURST):
            put(link, range(number, number + BURST))
        assert resident(process) - begun < SLACK
    with broker(tmp_path) as (process, link):
        expected, offset = 0, 0
        while expected < count:
            numbers, offset = read(link, offset)
            assert numbers == list(range(expected, expected + len(numbers)))
            assert numbers, f"nothing at {offset}"
            expected += len(numbers)
        assert resident(process) - begun < SLACK
