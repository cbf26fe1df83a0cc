"""The replicas of one node: at most one of a queue at a time.

1. A new master, and a new mirror, begins with an empty disk; a queue that is started again at its
   home, with what the disk holds.
2. A replica gets each change of its records (Regroup), also that they name it no more; only a
   master whose record is still on its way is not, for it would end.
3. Work that has to wait for a replica's end is kept with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from reference_impl.metadata.records import replicas
from reference_impl.metadata.tables import Queue
from reference_impl.mirrored.master import Master
from reference_impl.mirrored.messages import NotStarted, Regroup, Retire, ShutDown
from reference_impl.mirrored.mirror import Mirror
from reference_impl.mirrored.misbehaving import held
from reference_impl.mirrored.replica import BrokerReplica
from reference_impl.misbehave.kinds import Misbehaviour
from reference_impl.pid import Pid
from reference_impl.process import Effect, Process, Send, Spawn, Watch, Wipe, World


@dataclass(slots=True)
class _Local:
    """`asker`: who wanted this mirror, and may not see it listed yet. `awaits_record`: it is a
    master that no record has named. `follows`: what waits for its end."""

    pid: Pid
    asker: Pid | None
    awaits_record: bool
    listed: bool = False
    follows: list[Callable[[], None]] = field(default_factory=list)


class LocalReplicas:
    """`out`: where the effects of the event at hand go."""

    def __init__(self, world: World, misbehaviour: Misbehaviour | None) -> None:
        self.out: list[Effect] = []
        self._world = world
        self._misbehaviour = misbehaviour
        self._local: dict[str, _Local] = {}
        self._names: dict[Pid, str] = {}

    def __iter__(self) -> Iterator[str]:
        """Names of their queues."""
        return iter(self._local)

    def __contains__(self, name: str) -> bool:
        return name in self._local

    def new_master(self, name: str, durable: bool) -> Pid:
        replica = self._replica(name, durable, founder=True)
        self.out.append(Wipe(name))
        return self._spawn(replica, Master(replica), None)

    def restart_master(self, name: str) -> Pid:
        replica = self._replica(name, True, founder=True)
        replica.backing.restore()
        self.out += held(replica)
        return self._spawn(replica, Master(replica), None)

    def new_mirror(self, name: str, durable: bool, asker: Pid) -> None:
        replica = self._replica(name, durable, founder=False)
        self.out.append(Wipe(name))
        pid = self._spawn(replica, Mirror(replica), asker)
        self.out.append(Send(pid, Regroup()))

    def serves(self, name: str, asker: Pid) -> bool:
        """Return whether there is no need of another mirror: one is listed, or on its way for the
        same asker."""
        local = self._local[name]
        record = self._world.tables.queues.get(name)
        if record is not None and local.pid in replicas(record):
            return True
        return not local.listed and local.asker == asker

    def after(self, name: str, follow: Callable[[], None]) -> None:
        """Run `follow` when the present replica has ended."""
        self._local[name].follows.append(follow)

    def regroup(self, name: str, record: Queue | None) -> None:
        local = self._local.get(name)
        if local is None:
            return
        if record is not None and local.pid in replicas(record):
            local.listed = True
            local.awaits_record = False
        if not local.awaits_record:
            self.out.append(Send(local.pid, Regroup()))

    def recorded(self, name: str, pid: Pid, is_master: bool) -> None:
        """A master's record has come into the tables, or could not."""
        local = self._local.get(name)
        if local is not None and local.pid == pid:
            local.awaits_record = False
        self.out.append(Send(pid, Regroup() if is_master else Retire(False)))

    def ended(self, pid: Pid) -> str | None:
        """The queue whose replica it was; None where it was none of ours."""
        name = self._names.pop(pid, None)
        if name is None:
            return None
        local = self._local.pop(name)
        if local.asker is not None and not local.listed:
            self.out.append(Send(local.asker, NotStarted(self._world.node, name)))
        for follow in local.follows:
            follow()
        return name

    def shut_down(self) -> None:
        self.out += [Send(local.pid, ShutDown()) for local in self._local.values()]

    def _replica(self, name: str, durable: bool, founder: bool) -> BrokerReplica:
        return BrokerReplica(
            self._world.new_pid(),
            self._world,
            name,
            durable=durable,
            founder=founder,
            misbehaviour=self._misbehaviour,
        )

    def _spawn(self, replica: BrokerReplica, process: Process, asker: Pid | None) -> Pid:
        assert replica.queue not in self._local, replica.queue
        self._local[replica.queue] = _Local(replica.pid, asker, awaits_record=asker is None)
        self._names[replica.pid] = replica.queue
        self.out.append(Spawn(replica.pid, process))
        self.out.append(Watch(replica.pid))
        return replica.pid
