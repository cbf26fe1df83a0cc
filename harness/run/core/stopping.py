"""PURE: the hosts that operations have stopped, in what order, and which hosts their words mean.

1. It gets notice of each operation, and resolves targets. If none matches, it raises NoSuchTarget,
   and never guesses.
2. A host that lost its disk is no longer a stopped one: it is lost until it is started, empty.
3. At the end `facts` returns what claims ask for, as words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.cluster.port import Roles
from harness.plan.files.targets import Target, TargetForm
from harness.plan.operation_options import FIRST_FIRST, IN_TURN, LAST_FIRST
from harness.plan.operations import Operation
from harness.run.core.resolving import NoSuchTarget, holders, resolve

NONE, OTHER, EVERY = "none", "other", "all"
NOT_STARTED = {"not_applicable": "not all hosts that were stopped were started again"}
NOBODY_WAITED = {"not_applicable": "no host was started before the one that was stopped last"}


@dataclass(slots=True)
class Stopping:
    """The hosts of one run, as operations left them."""

    hosts: tuple[str, ...]  # the layout's
    spares: tuple[str, ...] = ()
    stopped: list[str] = field(default_factory=list)  # the first one first
    lost: list[str] = field(default_factory=list)  # down, and without their disks
    _down: list[tuple[str, int]] = field(default_factory=list)  # (host, deed) of the last downtime
    _wiped: list[str] = field(default_factory=list)
    _all_down: str = NONE  # how: "in turn", "at once"
    _order: tuple[str, ...] = ()  # in which they went down when all were
    _starts: dict[str, int] = field(default_factory=dict)  # host -> when, after all were down
    _gave_up: bool | None = None
    _forgotten: str = NONE
    _joined: set[str] = field(default_factory=set)

    @property
    def down(self) -> tuple[str, ...]:
        return (*self.stopped, *self.lost)

    @property
    def up(self) -> tuple[str, ...]:
        return tuple(host for host in self.hosts if host not in self.down)

    def stop(self, host: str, deed: int) -> None:
        """`deed`: hosts that go down by the same one go at once."""
        self.stopped.append(host)
        self._down = [one for one in self._down if one[0] in self.down]
        self._down.append((host, deed))
        if not self.up and self._all_down == NONE:
            self._all_down = "at once" if len({deed for _, deed in self._down}) == 1 else "in turn"
            self._order = tuple(name for name, _ in self._down)

    def start(self, host: str, at_ns: int) -> None:
        for hosts in (self.stopped, self.lost):
            if host in hosts:
                hosts.remove(host)
        if self._order:
            self._starts.setdefault(host, at_ns)

    def waiting(self, host: str) -> str:
        """Return a host that was started without `host`, the last one stopped; "" if none was."""
        last = self._order[-1:] == (host,) and host not in self._starts
        return next(iter(self._starts), "") if last else ""

    def waited(self, ended: bool) -> None:
        """Whether who waited had ended by himself."""
        self._gave_up = ended

    def wipe(self, host: str) -> None:
        self.stopped.remove(host)
        self.lost.append(host)
        self._wiped.append(host)

    def forget(self, offline: bool) -> None:
        self._forgotten = "offline" if offline else "online"

    def join(self, host: str) -> None:
        self._joined.add(host)
        self.spares = tuple(spare for spare in self.spares if spare != host)

    def meant(
        self, kind: Operation, target: Target, roles: Mapping[str, Roles]
    ) -> tuple[str, ...]:
        """Return the hosts that a target means: in layout order, or in the order they stopped.

        `roles`: the hosts that hold each queue now; only some words need it.
        """
        if kind.means_spare:
            return (self._spare(target),)
        if target.form is TargetForm.ALL:
            found = self.down if kind.means_stopped else self.up
            if not found:
                raise NoSuchTarget(f"all: no host is {'down' if kind.means_stopped else 'up'}")
            return found
        return (self.stopped_host(target) if kind.means_stopped else self._up_one(target, roles),)

    def stopped_host(self, target: Target) -> str:
        """Return the host that is down which a target means. Raise NoSuchTarget."""
        if target.form is TargetForm.HOST:
            if target.host not in self.down:
                raise NoSuchTarget(f"{target.word}: it is not down by an operation")
            return target.host
        listed = self.lost if target.form is TargetForm.LOST else self.stopped
        if not listed:
            raise NoSuchTarget(f"{target.word}: there is no such host")
        return listed[-1] if target.form is TargetForm.LAST_STOPPED else listed[0]

    def ordered(self, hosts: Sequence[str], order: str) -> tuple[tuple[str, ...], ...]:
        """The hosts in groups: those of one group at once, the groups one after another."""
        if order == LAST_FIRST:
            return tuple((host,) for host in reversed(hosts))
        if order in (FIRST_FIRST, IN_TURN):
            return tuple((host,) for host in hosts)
        return (tuple(hosts),)

    def facts(self) -> dict[str, Any]:
        """What claims ask of it: words of plan/vocabulary.OPERATED."""
        first = next(iter(self._starts), "")
        return {
            "all_stopped": self._all_down,
            "started_first": self._place(first) if first else NONE,
            "started_within_s": self._from_first_to(*self._order),
            "waited_for_last_s": self._from_first_to(*self._order[-1:]),
            "gave_up_waiting": self._gave_up if self._waited else NOBODY_WAITED,
            "lost_disk": self._wiped_place(),
            "node_removed": self._forgotten,
            "nodes_added": len(self._joined),
        }

    @property
    def _waited(self) -> bool:
        """Whether anybody was started before the host that was stopped last."""
        return bool(self._starts) and next(iter(self._starts)) != self._order[-1]

    def _from_first_to(self, *hosts: str) -> float | dict[str, str]:
        """From the first start after all were down until these had been told to start."""
        if not hosts or not set(hosts) <= self._starts.keys():
            return NOT_STARTED
        last_ns = max(self._starts[host] for host in hosts)
        return (last_ns - next(iter(self._starts.values()))) / 1e9

    def _spare(self, target: Target) -> str:
        if target.form is TargetForm.HOST and target.host in self.spares:
            return target.host
        if target.form is TargetForm.SPARE and self.spares:
            return self.spares[0]
        raise NoSuchTarget(f"{target.word}: there is no such spare host (any more)")

    def _up_one(self, target: Target, roles: Mapping[str, Roles]) -> str:
        """Peers may not have struck off yet what was stopped a moment ago."""
        known = {
            queue: replace(role, mirrors=tuple(host for host in role.mirrors if host in self.up))
            for queue, role in roles.items()
        }
        host = resolve(target, known, self.hosts, holders(roles))
        if host in self.down:
            raise NoSuchTarget(f"{target.word}: {host} is down")
        return host

    def _place(self, host: str) -> str:
        """Where a host stood when all were down."""
        if self._all_down == "in turn" and host == self._order[0]:
            return TargetForm.FIRST_STOPPED.value
        if self._all_down == "in turn" and host == self._order[-1]:
            return TargetForm.LAST_STOPPED.value
        return OTHER

    def _wiped_place(self) -> str:
        if not self._wiped:
            return NONE
        if set(self._wiped) == set(self.hosts):
            return EVERY
        return self._place(self._wiped[0]) if len(self._wiped) == 1 else OTHER
