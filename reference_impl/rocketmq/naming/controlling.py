"""The requests to a name server's control node: those of brokers, and those of tools, which are
RocketMQ 5's own (docs/behaviour/rocketmq-ctgmq.md 1)."""

from collections.abc import Callable

import msgspec

from reference_impl.rocketmq.ctgmq.groups import GroupState
from reference_impl.rocketmq.ctgmq.node import ControlNode
from reference_impl.rocketmq.ctgmq.requests import ControlAnswer, read_request
from reference_impl.rocketmq.remoting.codes import RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.fields import UNREADABLE, BadRequest
from reference_impl.rocketmq.remoting.serving import Handler, IncomingRequest

SendLater = Callable[[int, Command], None]


class Controlling:
    """`send`: an answer that comes when a majority knows of it. `proven`: handlers of requests
    that have to be proven; `handlers`: of others."""

    def __init__(self, node: ControlNode, send: SendLater) -> None:
        self._node = node
        self._send = send
        self.proven: dict[int, Handler] = {RequestCode.CONTROL: self._control}
        self.handlers: dict[int, Handler] = {
            RequestCode.CONTROLLER_GET_METADATA_INFO: self._metadata,
            RequestCode.CONTROLLER_GET_SYNC_STATE_DATA: self._sync_states,
        }

    def _control(self, incoming: IncomingRequest) -> None:
        def answer(found: ControlAnswer) -> None:
            command = incoming.answer(body=msgspec.msgpack.encode(found))
            self._send(incoming.connection, command)

        self._node.control.request(read_request(incoming.command.body), answer)

    def _metadata(self, incoming: IncomingRequest) -> Command:
        members, leader = self._node.members, self._node.member.leader
        return incoming.answer_fields(
            group=members.group,
            controllerLeaderId=leader,
            controllerLeaderAddress=members.peers.get(leader, ""),
            isLeader="true" if self._node.control.leads else "false",
            peers="".join(f"{name}:{address};" for name, address in members.peers.items()),
        )

    def _sync_states(self, incoming: IncomingRequest) -> Command:
        try:
            groups = msgspec.json.decode(incoming.command.body, type=list[str])
        except UNREADABLE as error:
            raise BadRequest(f"no names of groups: {error}") from error
        states = {group: self._node.control.state(group) for group in groups}
        table = {
            group: self._shown(group, state) for group, state in states.items() if state.master
        }
        return incoming.json({"replicasInfoTable": table})

    def _shown(self, group: str, state: GroupState) -> dict[str, object]:
        members = {*state.members}
        return {
            "masterBrokerId": int(state.master),
            "masterAddress": state.replicas[state.master].serves,
            "masterEpoch": state.epoch,
            "syncStateSetEpoch": state.set_epoch,
            "inSyncReplicas": self._replicas(group, state, members),
            "notInSyncReplicas": self._replicas(group, state, state.replicas.keys() - members),
        }

    def _replicas(self, group: str, state: GroupState, names: set[str]) -> list[dict[str, object]]:
        return [
            {
                "brokerName": group,
                "brokerId": int(name),
                "brokerAddress": state.replicas[name].serves,
                "alive": self._node.control.is_alive(group, name),
            }
            for name in sorted(names)
        ]
