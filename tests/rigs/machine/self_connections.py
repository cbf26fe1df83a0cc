"""Connections of sockets with themselves, made certain: the kernel makes one in thousands."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.rigs.machine.ports import free_port

HOST = "127.0.0.1"
Address = tuple[str, int]


@contextmanager
def dialled_from_itself() -> Iterator[Address]:
    """Yield an address where nothing listens, and that each dialling socket gets as its own, too.

    The kernel may choose so for any dialling socket; here the socket binds it first.
    """
    connect = socket.socket.connect

    def from_itself(dialling: socket.socket, address: Any) -> None:
        if address == unused:
            dialling.bind(address)
        connect(dialling, address)

    unused = HOST, free_port(HOST)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket.socket, "connect", from_itself)
        yield unused


async def until_can_listen(address: Address) -> None:
    """Wait for the loop to close what was aborted. It needs two turns; TIME_WAIT needs 60 s."""
    async with asyncio.timeout(1.0):
        while not can_listen(address):
            await asyncio.sleep(0.005)


def can_listen(address: Address) -> bool:
    """Return whether a server can listen there, as servers do."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(address)
            server.listen()
        except OSError:
            return False
    return True
