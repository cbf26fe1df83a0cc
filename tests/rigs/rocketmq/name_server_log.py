"""What a name server's own log says it dropped and took up, and how a run's looks compare with it.

1. The log tells the time of day; the manifest says what that was at the run's origin, and the
   machine is the same one.
2. The route of a topic shows a broker's slave when its master has said which queues there are, the
   cluster's list when the slave has registered: only that one is held against the log.
3. A look sees a view, so what came back between two looks is not seen; and a name server that does
   not answer shows nothing. Such words of the log are left out: they could not be seen.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from spark_analysis.schema.views import (
    NOTHING_BEFORE,
    ROUTE,
    Change,
    Silence,
    Views,
    broker_in,
)

SLACK_NS = 100_000_000  # between what a name server does and what it writes of it
WITHIN_NS = 1_000_000_000
_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \w+ \S+ - (.*)$")
# 4.9 names the address where its channel ended; 5.3 queues the request, and names it in another
# way: each of its fields, and the address is one.
_DROPPED = re.compile(
    r"remove brokerAddr\[\d+, (?P<one>[^\]]+)\] from brokerAddrTable"
    r"|unregisterBroker, remove from brokerAddrTable OK.*?(?P<two>[\w.-]+:\d+)"
)
_SHOWN = re.compile(r"new broker registered, (?:.*?brokerAddr=)?(?P<one>[\w.-]+:\d+)")


@dataclass(frozen=True, slots=True)
class Logged:
    """One line that tells of a broker. Run time."""

    at_ns: int
    address: str
    shown: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """A change that a prober saw, and what the log says of it."""

    change: Change
    silent: bool  # the name server gave no answer for a time in between
    logged_ns: int | None  # the line that is nearest to its bounds; None: there is none

    @property
    def seen_after_ns(self) -> int | None:
        """How long after the log's own time it was seen."""
        return None if self.logged_ns is None else self.change.by_ns - self.logged_ns

    @property
    def fits(self) -> bool:
        """The log's time lies between the two looks, and less than a second before it was seen."""
        if self.logged_ns is None:
            return False
        after_ns, by_ns = self.change.after_ns - SLACK_NS, self.change.by_ns + SLACK_NS
        return after_ns <= self.logged_ns <= by_ns and by_ns - self.logged_ns <= WITHIN_NS

    def __str__(self) -> str:
        seen = self.seen_after_ns
        delay = "not in its log" if seen is None else f"{seen / 1e6:.0f} ms after its log's time"
        verb = "showed" if self.change.shown else "dropped"
        where = f"{self.change.name_server} {verb} {self.change.what} ({self.change.kind})"
        return f"{where}: seen {delay}{' (after a silence)' if self.silent else ''}"


def logged(text: str, origin_wall_ns: int) -> list[Logged]:
    """Every broker that was dropped or newly taken up, in the order of the log."""
    found = []
    for line in text.splitlines():
        stamped = _LINE.match(line)
        for shown, pattern in ((False, _DROPPED), (True, _SHOWN)):
            if stamped and (match := pattern.search(stamped[2])):
                address = next(filter(None, match.groups()))
                found.append(Logged(_ns(stamped[1]) - origin_wall_ns, address, shown))
    return found


def compared(views: Views, name_server: str, log: Iterable[Logged]) -> Iterator[Compared]:
    """Each change of a broker that a prober saw at this name server, after its first view."""
    lines = list(log)
    for change in views.changes:
        broker = broker_in(change.what)
        if broker is None or change.name_server != name_server:
            continue
        if change.after_ns == NOTHING_BEFORE or (change.kind == ROUTE and change.shown):
            continue
        same = (broker.address, change.shown)
        times = [one.at_ns for one in lines if (one.address, one.shown) == same]
        nearest = min(times, key=lambda at_ns: _off(change, at_ns), default=None)
        yield Compared(change, _silent(views.silences, change) is not None, nearest)


def unseen(views: Views, name_server: str, log: Iterable[Logged]) -> list[Logged]:
    """What the log tells, lasted for WITHIN_NS, could be seen, and was not."""
    lines = list(log)
    missing = []
    for place, line in enumerate(lines):
        later = (one.at_ns for one in lines[place + 1 :] if one.address == line.address)
        ended_ns = next(later, line.at_ns + WITHIN_NS)
        if ended_ns - line.at_ns < WITHIN_NS or not _answered(views, name_server, line.at_ns):
            continue
        if not any(_same(change, name_server, line) for change in views.changes):
            missing.append(line)
    return missing


def wall_of(folder: Path) -> int:
    """What the clock of the day said at the run's origin; it may not have been set since."""
    manifest = json.loads((folder / "manifest.json").read_text())
    assert abs(manifest["wall_set_ns"]) < SLACK_NS // 2, "the clock of the day was set"
    return int(manifest["origin_wall_ns"])


def _ns(stamp: str) -> int:
    at = datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC)
    return round(at.timestamp() * 1000) * 1_000_000


def _off(change: Change, at_ns: int) -> int:
    return max(change.after_ns - at_ns, at_ns - change.by_ns, 0)


def _silent(silences: Iterable[Silence], change: Change) -> Silence | None:
    way = (change.prober, change.kind, change.name_server)
    same = (one for one in silences if (one.prober, one.kind, one.name_server) == way)
    return next(
        (one for one in same if change.after_ns <= one.from_ns and one.until_ns <= change.by_ns),
        None,
    )


def _same(change: Change, name_server: str, line: Logged) -> bool:
    broker = broker_in(change.what)
    if broker is None or (broker.address, change.shown) != (line.address, line.shown):
        return False
    near = change.after_ns - SLACK_NS <= line.at_ns <= change.by_ns + SLACK_NS
    return near and change.name_server == name_server


def _answered(views: Views, name_server: str, at_ns: int) -> bool:
    """Whether the name server answered then, and for a second from then on."""
    own = [one for one in views.queries if one.name_server == name_server]
    first_ns, last_ns = max(one.first_ns for one in own), min(one.last_ns for one in own)
    silent = any(
        one.name_server == name_server and one.from_ns - WITHIN_NS < at_ns < one.until_ns
        for one in views.silences
    )
    return first_ns < at_ns < last_ns - WITHIN_NS and not silent
