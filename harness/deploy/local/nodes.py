"""The nodes and the proxy of a local cluster, as children of the harness.

1. Only a parent learns how a process ended: that is why these handles are kept.
2. A node that was started again is a new child; only the last one of a unit is asked.
3. If a child has ended and another process has its address, an error names the address: brokers
   report that in different words, or not at all.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Protocol

from faults.core.places import place as place_of
from harness.cluster.port import DeployError
from harness.deploy.local.site import (
    PROXY_NAME,
    Site,
    priorities,
    runs,
    start_proxy,
    start_unit,
)
from harness.deploy.loopback_block import Place, first_taken
from harness.systems.port import Unit

WORDS_MAX = 20  # lines of a log that an error tells


class Child(Protocol):
    """A node that was started, as its parent knows it (subprocess.Popen)."""

    @property
    def stdin(self) -> IO[bytes] | None: ...

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...


Begin = Callable[[Site, Unit], Child]


class LocalNodes:
    """Nothing runs until it is started. `begin` raises OSError."""

    def __init__(self, site: Site, begin: Begin = start_unit) -> None:
        self.site = site
        self._begin = begin
        self._nodes: dict[Unit, Child] = {}
        self._ended: list[tuple[Unit, Child]] = []
        self._proxy: subprocess.Popen[bytes] | None = None

    def start_proxy(self) -> None:
        """Raises OSError."""
        self._proxy = start_proxy(self.site)

    def start(self, place: str) -> None:
        """What of a place does not run. Raises OSError."""
        for unit in self.site.of(place):
            if runs(self.site, unit):
                continue
            started = self._begin(self.site, unit)
            if unit in self._nodes:
                self._ended.append((unit, self._nodes[unit]))
            self._nodes[unit] = started

    def adopt(self, children: Mapping[Unit, Child]) -> None:
        """Take over nodes that another process has started."""
        self._nodes.update(children)

    def pids(self, place: str = "") -> dict[str, int]:
        """Return the process of each unit of a place, or of all, by the unit's place."""
        units = self.site.of(place) if place else self.site.units
        return {place_of(one.host, one.word): self._nodes[one].pid for one in units}

    def exit_code(self, place: str) -> int | None:
        """128 and the signal's number where a signal ended it; None while one of it runs, or where
        not all have ended in the same way."""
        codes = {_code(self._nodes[unit]) for unit in self.site.of(place)}
        return codes.pop() if len(codes) == 1 else None

    def ends(self) -> dict[int, tuple[str, int]]:
        """By pid, of every node that was started and has ended: its place, and its exit code."""
        return {
            node.pid: (self.site.met_at(unit), code)
            for unit, node in (*self._ended, *self._nodes.items())
            if (code := _code(node)) is not None
        }

    def failure(self) -> str:
        """Return which process has ended where it should run, and why; "" if none has."""
        if self._proxy is not None and self._proxy.poll() is not None:
            why = _taken([self.site.proxy_place]) + self.last_words(PROXY_NAME)
            return f"the proxy ended with {self._proxy.returncode}{why}"
        for unit, node in self._nodes.items():
            name = self.site.name(unit)
            code = _code(node)
            if code is not None:
                why = _taken(self.site.unit_places(unit)) + self.last_words(name)
                return f"the node of {name} ended with {code}{why}"
        return ""

    def last_words_of(self, host: str) -> str:
        """Of all its processes."""
        return "".join(self.last_words(self.site.name(unit)) for unit in self.site.of(host))

    def last_words(self, name: str) -> str:
        """The ends of what a process wrote, and of its log."""
        words = []
        for file in (self.site.log(name), self.site.output(name)):
            with suppress(OSError):
                lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
                words += [f"{file.name}: {line}" for line in lines[-WORDS_MAX:]]
        return "".join(f"\n  {line}" for line in words) or "; it wrote nothing"

    def priorities(self) -> str:
        """Of one node: all are treated alike."""
        return next((priorities(node.pid) for node in self._nodes.values()), "unknown")

    def reap(self) -> None:
        """Lets go of children that have ended."""
        for process in self._children():
            if process.stdin is not None:
                process.stdin.close()
            process.poll()

    def _children(self) -> Iterator[Child]:
        yield from self._nodes.values()
        yield from (process for _, process in self._ended)
        if self._proxy is not None:
            yield self._proxy


def _taken(places: Sequence[Place]) -> str:
    """Return what is wrong with the addresses of a process that has ended; "" if all are free."""
    try:
        found = first_taken(places)
    except DeployError as error:
        return f": {error}"
    if found is None:
        return ""
    address, port = found
    network = address.rpartition(".")[0]
    return (
        f": another process has taken {address}:{port} since mqproof chose it. Expected: this "
        f"cluster alone uses {network}.0/24. Run again: each cluster gets other addresses. If "
        "that does not help, stop the other process (`ss -ltnp` shows it)"
    )


def _code(process: Child) -> int | None:
    code = process.poll()
    return 128 - code if code is not None and code < 0 else code
