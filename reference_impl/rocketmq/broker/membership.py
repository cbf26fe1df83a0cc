"""Heartbeats and farewells of clients, and the notices to others
(docs/behaviour/rocketmq.md 3.2).
"""

from reference_impl.rocketmq.broker.clients import ClientInfo
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.topics import RETRY_PREFIX
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command, request
from reference_impl.rocketmq.remoting.header import LANGUAGES
from reference_impl.rocketmq.remoting.serving import Handler, IncomingRequest


class Membership:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.handlers: dict[int, Handler] = {
            RequestCode.HEART_BEAT: self._heartbeat,
            RequestCode.UNREGISTER_CLIENT: self._leave,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: self._listed,
            RequestCode.CHECK_CLIENT_CONFIG: self._check,
        }

    def closed(self, connection: int) -> None:
        self._notify(self._parts.clients.closed(connection))

    def _heartbeat(self, incoming: IncomingRequest) -> Command:
        """A group's first one makes the group, and the topic of what it sends back."""
        header, address = (
            incoming.command.header,
            self._parts.connections.peer(incoming.connection),
        )
        who = ClientInfo("", address, LANGUAGES[header.language], header.version)
        body = incoming.command.body
        groups, changed = self._parts.clients.heard(body, incoming.connection, who)
        for name in groups:
            group = self._parts.groups.wanted(name)
            if group is not None and group.retry_queue_nums > 0 and not self._parts.role.is_slave:
                self._parts.topics.own(f"{RETRY_PREFIX}{name}", group.retry_queue_nums)
        self._notify(changed)
        return incoming.answer()

    def _leave(self, incoming: IncomingRequest) -> Command:
        producers = incoming.fields.text("producerGroup", "")
        consumers = incoming.fields.text("consumerGroup", "")
        self._notify(self._parts.clients.left(incoming.connection, producers, consumers))
        return incoming.answer()

    def _listed(self, incoming: IncomingRequest) -> Command:
        group = incoming.fields.text("consumerGroup")
        names = [client.name for client in self._parts.clients.members(group).values()]
        if not names:
            remark = f"no consumer for this group, {group}"
            return incoming.answer(Code.SYSTEM_ERROR, remark)
        return incoming.json({"consumerIdList": names})

    def _check(self, incoming: IncomingRequest) -> Command:
        """Answer whether a filter is possible. No client queries this for tags."""
        remark = "The broker does not support consumer to filter message by SQL92"
        return incoming.answer(Code.SYSTEM_ERROR, remark)

    def _notify(self, groups: list[str]) -> None:
        for name in groups:
            group = self._parts.groups.get(name)
            if group is not None and not group.notify_consumer_ids_changed_enable:
                continue
            for connection in self._parts.clients.members(name):
                number, fields = self._parts.calls.number(), {"consumerGroup": name}
                code = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
                notice = request(code, number, fields, oneway=True)
                self._parts.outbox.send(connection, notice)
