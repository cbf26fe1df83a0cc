"""A reference cluster as operating system processes on loopback addresses of its own."""

import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from reference_impl.misbehave.kinds import Misbehaviour
from reference_impl.node.config import Config

T = TypeVar("T")
READY_LIMIT_S = 20.0
COOKIE = "what only these nodes know"


@dataclass
class Nodes:
    """`addresses`: name -> the address on which it has RabbitMQ's usual ports."""

    folder: Path
    count: int = 3
    net_ticktime_s: float = 60.0
    partition_handling: str = "ignore"
    misbehave: Misbehaviour | None = None
    memory_high_octets: int | None = None
    spares: tuple[str, ...] = ()  # each stands by itself until it joins
    addresses: dict[str, str] = field(default_factory=dict)
    processes: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def __enter__(self) -> "Nodes":
        block = _free_block()
        names = [f"ref{number}" for number in range(1, self.count + 1)]
        self.addresses = {name: f"{block}.{10 + place}" for place, name in enumerate(names, 1)}
        for name in names:
            self.launch(name)
        for name in names:
            self.await_ready(name)
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def launch(self, name: str) -> None:
        peers = {peer: (at, 25672) for peer, at in self.addresses.items() if peer != name}
        members = tuple(it for it in self.addresses if it not in self.spares)
        config = Config(
            name=name,
            bind=self.addresses[name],
            data=str(self.folder / name),
            cookie=COOKIE,
            peers=peers,
            founders=(name,) if name in self.spares else members,
            net_ticktime_s=self.net_ticktime_s,
            partition_handling=self.partition_handling,
            misbehave=self.misbehave,
            memory_high_octets=self.memory_high_octets,
            log=str(self.folder / f"{name}.log"),
        )
        file = self.folder / f"{name}.json"
        file.write_bytes(msgspec.json.encode(config))
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", "reference_impl", "node", str(file), "--with-parent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def await_ready(self, name: str) -> None:
        process = self.processes[name]
        assert process.stdout is not None
        readable, _, _ = select.select([process.stdout], [], [], READY_LIMIT_S)
        log = (self.folder / f"{name}.log").read_text() if not readable else ""
        assert readable, f"{name} was not ready in {READY_LIMIT_S} s:\n{log}"
        assert json.loads(process.stdout.readline())["ready"]

    def start(self, name: str) -> None:
        self.launch(name)
        self.await_ready(name)

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def stop(self, name: str) -> int:
        self.processes[name].terminate()
        return self.processes[name].wait(15)

    def freeze(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGSTOP)
        os.waitpid(self.processes[name].pid, os.WUNTRACED)

    def thaw(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGCONT)


def until(look: Callable[[], T | None], limit_s: float = 10.0) -> T:
    """The first true answer of `look`; fails with the last one after the limit."""
    waiting = retry(
        retry=retry_if_result(lambda answer: not answer),
        stop=stop_after_delay(limit_s),
        wait=wait_fixed(0.02),
        retry_error_callback=lambda state: state.outcome.result(),
    )
    answer = waiting(look)()
    assert answer, f"never became true: {answer!r}"
    return answer


def _free_block() -> str:
    """Return three parts of loopback addresses without a listener."""
    draw = random.Random()
    while True:
        block = f"127.{draw.randint(2, 60)}.{draw.randint(1, 250)}"
        with socket.socket() as probe:
            try:
                probe.bind((f"{block}.11", 5672))
            except OSError:
                continue
            return block
