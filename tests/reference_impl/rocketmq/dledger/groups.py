"""Groups of members in the simulated world, and what is seen of them after every event.

1. A group breaks a promise if two members lead in one term, two entries are committed under one
   index, something committed is cut, or a leader without a majority goes on to call itself one.
2. Numbers are appended; one that was confirmed has to be in every log at the end.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

from reference_impl.rocketmq.dledger.entries import MESSAGE, LedgerEntry
from reference_impl.rocketmq.dledger.ledger import Ledger
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.effects import MEMBERS, Effect, Server
from reference_impl.rocketmq.simulator.world import Host, World

PORT = 40911
GROUP = "g"
FILE_OCTETS = 4096
LEADERLESS_LIMIT_MS = 16_000  # by true time; clocks are up to a tenth slower


class GroupWatch:
    """What was seen of a group. `admitted`: numbers that a member without a rule cut from its
    log."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.admitted: set[int] = set()
        self.confirmed: set[int] = set()
        self._leaders: dict[int, str] = {}
        self._committed: dict[int, LedgerEntry] = {}

    def look(self, name: str, member: DledgerMember, seen: int) -> int:
        """`seen`: the index up to which its log was looked at; return the same from now on."""
        if member.is_leader and self._leaders.setdefault(member.term, name) != name:
            others = self._leaders[member.term]
            self.broken.append(f"{name} and {others} lead in term {member.term}")
        for index in range(seen + 1, member.ledger.committed_index + 1):
            entry = member.ledger.entry(index)
            assert entry is not None, index
            if self._committed.setdefault(index, entry) != entry:
                self.broken.append(f"{name} commits another entry {index}")
        return member.ledger.committed_index

    def gone(self, entry: LedgerEntry) -> None:
        if entry.magic == MESSAGE:
            self.admitted.add(int(entry.body))

    def cut(self, name: str) -> None:
        self.broken.append(f"{name} cuts what is committed")


class MemberServer:
    """effects.Server: a member alone, to which numbers are appended."""

    def __init__(self, name: str, member: DledgerMember, watch: GroupWatch) -> None:
        self.member = member
        self._name = name
        self._watch = watch
        self._seen = -1

    def append(self, number: int) -> list[Effect]:
        if not self.member.takes_more:
            return []

        def settled(is_committed: bool) -> None:
            if is_committed:
                self._watch.confirmed.add(number)

        self.member.append(lambda _: b"%d" % number)
        self.member.wait(settled)
        return self._turned()

    def opened(self, connection: int, peer: str, door: str, dialled: str | None) -> list[Effect]:
        self.member.opened(connection, peer, dialled)
        return self._turned()

    def refused(self, address: str, door: str) -> list[Effect]:
        self.member.refused(address)
        return self._turned()

    def received(self, connection: int, octets: bytes) -> list[Effect]:
        self.member.received(connection, octets)
        return self._turned()

    def closed(self, connection: int) -> list[Effect]:
        self.member.closed(connection)
        return self._turned()

    def tick(self) -> list[Effect]:
        self.member.tick()
        return self._turned()

    def stop(self) -> list[Effect]:
        self.member.stop()
        return []

    def _turned(self) -> list[Effect]:
        effects = self.member.take()
        self._seen = self._watch.look(self._name, self.member, self._seen)
        return effects


class DledgerGroup:
    """Members n0, n1, … in a world."""

    def __init__(
        self,
        world: World,
        size: int,
        flushes: bool = False,
        without: Rule | None = None,
        secret: str = "",
        drift: Callable[[], float] = lambda: 1.0,
    ) -> None:
        self.world = world
        self.watch = GroupWatch()
        self.names = [f"n{number}" for number in range(size)]
        peers = {name: f"{name}:{PORT}" for name in self.names}
        for name in self.names:
            settings = MemberSettings(
                group=GROUP,
                name=name,
                peers=peers,
                secret=secret,
                flushes=flushes,
                file_octets=FILE_OCTETS,
                without=without,
            )
            world.add(name, self._boot(settings), {PORT: MEMBERS}, rate=drift())

    def server(self, name: str) -> MemberServer | None:
        server = self.world.hosts[name].server
        assert server is None or isinstance(server, MemberServer)
        return server

    def member(self, name: str) -> DledgerMember:
        server = self.server(name)
        assert server is not None, f"{name} does not run"
        return server.member

    def running(self) -> list[str]:
        return [name for name in self.names if self.world.hosts[name].server is not None]

    def leaders(self) -> list[str]:
        """Those that call themselves so."""
        return [name for name in self.running() if self.member(name).is_leader]

    def leader(self) -> str:
        """The one of the latest term; "": there is none."""
        return max(self.leaders(), key=lambda name: self.member(name).term, default="")

    def append(self, name: str, number: int) -> None:
        def event(server: Server) -> list[Effect]:
            assert isinstance(server, MemberServer)
            return server.append(number)

        self.world.call(name, event)

    def until(self, happened: Callable[[], bool], limit_ms: float) -> bool:
        """Whether it does within that time."""
        end_ms = self.world.time.ms + limit_ms
        while not happened() and self.world.time.ms < end_ms:
            self.world.run(50)
        return happened()

    def reaches_majority(self, name: str) -> bool:
        """Whether it can exchange messages with as many members as it needs."""
        cuts, hosts = self.world.network.cuts, self.world.hosts
        others = [
            other
            for other in self.running()
            if not hosts[other].stands_still
            and (name, other) not in cuts
            and (other, name) not in cuts
        ]
        return 2 * len({*others, name}) > len(self.names)

    def numbers(self, name: str) -> list[int]:
        return [*numbers_of(self.member(name).ledger)]

    def mismatches(self) -> list[str]:
        """Two logs that have an entry of one index and term are the same up to there."""
        found = []
        for one, other in combinations(self.running(), 2):
            left, right = self.member(one).ledger, self.member(other).ledger
            common = min(left.end_index, right.end_index)
            same = next(
                (at for at in range(common, -1, -1) if left.term_of(at) == right.term_of(at)), -1
            )
            if any(left.entry(at) != right.entry(at) for at in range(same + 1)):
                found.append(f"{one} and {other} differ at or before entry {same}")
        return found

    def _boot(self, settings: MemberSettings) -> Callable[[Host], Server]:
        def boot(host: Host) -> Server:
            name, watch = settings.name, self.watch
            member = DledgerMember(
                settings,
                host.clock,
                host.disk,
                self.world.dice,
                lambda _: watch.cut(name),
                watch.gone,
            )
            return MemberServer(name, member, watch)

        return boot


def numbers_of(ledger: Ledger) -> Iterator[int]:
    """Committed ones."""
    for entry in ledger.committed_from(0):
        if entry.magic == MESSAGE:
            yield int(entry.body)
