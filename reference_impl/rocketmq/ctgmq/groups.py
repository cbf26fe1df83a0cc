"""What control nodes agree on: of each group of brokers its replicas, master and SyncStateSet.

1. The state of a group changes by a command that a majority of control nodes has, and in no other
   way. Each control node applies the same commands in the same order.
2. A command names the epochs that it was decided by. If they are over, it changes nothing.
3. A new master is alone in the set, and takes others in. It has to be a member of the set before.
4. A replica's name belongs to the store that took it first: its code says which one that is.
"""

import msgspec

from reference_impl.rocketmq.ctgmq.rules import ReplicaRule


class Enrolled(msgspec.Struct, frozen=True):
    """`code`: drawn once, and kept in the replica's store. `address`: of its log; `serves`: of
    its clients."""

    code: str
    address: str
    serves: str = ""


class GroupState(msgspec.Struct, frozen=True):
    """`members`: the SyncStateSet, in order. `set_epoch` grows with each change of either."""

    replicas: dict[str, Enrolled] = {}
    master: str = ""
    epoch: int = 0
    members: tuple[str, ...] = ()
    set_epoch: int = 0

    @property
    def age(self) -> tuple[int, int]:
        return self.epoch, self.set_epoch


class Enrol(msgspec.Struct, frozen=True, tag=True):
    """A new replica. The first of a group becomes its master."""

    group: str
    name: str
    enrolled: Enrolled


class Alter(msgspec.Struct, frozen=True, tag=True):
    """A master's change of the set."""

    group: str
    epoch: int
    set_epoch: int
    members: tuple[str, ...]


class Promote(msgspec.Struct, frozen=True, tag=True):
    """A new master after the one of that epoch."""

    group: str
    epoch: int
    master: str


GroupCommand = Enrol | Alter | Promote
_DECODER: msgspec.msgpack.Decoder[GroupCommand] = msgspec.msgpack.Decoder(GroupCommand)


def written(command: GroupCommand) -> bytes:
    return msgspec.msgpack.encode(command)


def read(octets: bytes) -> GroupCommand:
    return _DECODER.decode(octets)


def applied(
    state: GroupState, command: GroupCommand, without: tuple[ReplicaRule, ...]
) -> GroupState:
    match command:
        case Enrol():
            return _enrol(state, command)
        case Alter():
            return _alter(state, command)
        case Promote():
            if ReplicaRule.IN_SET not in without and command.master not in state.members:
                return state
            return _promote(state, command)


def _enrol(state: GroupState, command: Enrol) -> GroupState:
    if command.name in state.replicas:
        return state
    replicas = {**state.replicas, command.name: command.enrolled}
    if state.master:
        return msgspec.structs.replace(state, replicas=replicas)
    return GroupState(replicas, command.name, 1, (command.name,), 1)


def _alter(state: GroupState, command: Alter) -> GroupState:
    members = tuple(sorted({*command.members}))
    is_known = state.master in members and {*members} <= state.replicas.keys()
    if (command.epoch, command.set_epoch) != state.age or not is_known:
        return state
    return msgspec.structs.replace(state, members=members, set_epoch=state.set_epoch + 1)


def _promote(state: GroupState, command: Promote) -> GroupState:
    if command.epoch != state.epoch or command.master not in state.replicas:
        return state
    return msgspec.structs.replace(
        state,
        master=command.master,
        epoch=state.epoch + 1,
        members=(command.master,),
        set_epoch=state.set_epoch + 1,
    )
