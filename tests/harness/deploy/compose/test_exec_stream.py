"""Docker's framed stream becomes messages, over a real pair of sockets."""

import asyncio
import socket
import struct

import pytest

from harness.cluster.port import DeployError
from harness.deploy.compose.exec_stream import ExecChannel, Frames
from tests.rigs.machine.loops import in_a_loop


def frame(stream: int, content: bytes) -> bytes:
    return struct.pack(">BxxxL", stream, len(content)) + content


class Ended:
    def __init__(self) -> None:
        self.killed = False

    async def exit_code(self) -> int | None:
        return 70

    async def kill(self) -> None:
        self.killed = True


async def send_until_refused(channel: ExecChannel) -> None:
    """The first lines after the end may still go into a buffer."""
    for _ in range(100):
        await channel.send({"do": "ping"})


async def conversation() -> tuple[ExecChannel, socket.socket]:
    ours, engine = socket.socketpair()
    return await ExecChannel.over("w1", ours, Ended()), engine


def test_frames_come_out_whole_however_the_stream_was_cut() -> None:
    raw = frame(1, b'{"a":1}\n') + frame(2, b"oops\n") + frame(1, b"")
    frames = Frames()
    found = [item for byte in raw for item in frames.feed(bytes([byte]))]
    assert found == [(1, b'{"a":1}\n'), (2, b"oops\n"), (1, b"")]


def test_a_stream_out_of_step_is_reported() -> None:
    with pytest.raises(DeployError, match="out of step"):
        list(Frames().feed(b"HTTP/1.1 500 Internal"))


@in_a_loop
async def test_messages_are_lines_whatever_frames_they_came_in() -> None:
    channel, engine = await conversation()
    engine.sendall(frame(1, b'{"say":"he') + frame(2, b"a warning\n"))
    engine.sendall(frame(1, b'llo"}\n{"say":"ready"}\n'))
    assert await channel.receive() == {"say": "hello"}
    assert await channel.receive() == {"say": "ready"}
    assert channel.errors == "a warning"
    engine.close()
    assert await channel.receive() is None
    assert await channel.exit_code() == 70


@in_a_loop
async def test_sent_messages_are_not_framed() -> None:
    channel, engine = await conversation()
    await channel.send({"do": "hello"})
    assert engine.recv(100) == b'{"do":"hello"}\n'
    engine.close()


@in_a_loop
async def test_closing_ends_our_side_only() -> None:
    channel, engine = await conversation()
    await channel.close()
    assert engine.recv(100) == b""
    engine.sendall(frame(1, b'{"say":"closed"}\n'))
    engine.close()
    assert await channel.receive() == {"say": "closed"}


@in_a_loop
async def test_the_socket_is_closed_when_the_process_has_ended() -> None:
    ours, engine = socket.socketpair()
    channel = await ExecChannel.over("w1", ours, Ended())
    await channel.close()
    engine.close()
    assert await channel.receive() is None
    await asyncio.sleep(0)  # its loop closes it
    assert ours.fileno() == -1
    assert await channel.receive() is None


@in_a_loop
async def test_sending_to_a_dead_process_reports_its_last_output() -> None:
    channel, engine = await conversation()
    engine.sendall(frame(2, b"Traceback\nNoSpace\n"))
    engine.close()
    assert await channel.receive() is None
    with pytest.raises(DeployError, match="NoSpace"):
        await send_until_refused(channel)


@in_a_loop
async def test_output_that_is_no_message_is_reported() -> None:
    channel, engine = await conversation()
    engine.sendall(frame(1, b"Segmentation fault\n"))
    with pytest.raises(DeployError, match="no message"):
        await asyncio.wait_for(channel.receive(), 5)
    engine.close()
