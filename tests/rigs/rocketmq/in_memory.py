"""A RocketMQ cluster that is a few tables: what its servers would answer, without a socket.

1. A server that is in `dead` answers nothing; name servers then show what `shown` says.
2. Brokers have the ids of the layout where `ids` says nothing else. Whom a member of a DLedger
   group follows is in `follows`; what controllers say is in `controllers` and `states`.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from harness.cluster.agent import AgentTimeout
from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import MASTER_ID, ServerProcess, servers
from harness.workers.remoting.requests import Code, RemotingAnswer

UNKNOWN, NOT_THERE, REFUSED = 3, 17, 1
Said = tuple[int, dict[str, str], str]


@dataclass
class FakeRocket:
    """An agent for it. By server: topics (and those of its slaves), groups, ends of logs."""

    layout: Layout
    dead: set[str] = field(default_factory=set)  # "rkt1 broker-a-0"
    hidden: set[tuple[str, str]] = field(default_factory=set)  # (name server's host, process)
    strangers: list[ServerProcess] = field(default_factory=list)  # that name servers show besides
    slaves_take_orders: bool = True
    topics: dict[ServerProcess, set[str]] = field(default_factory=dict)
    groups: dict[ServerProcess, set[str]] = field(default_factory=dict)
    ends: dict[ServerProcess, int] = field(default_factory=dict)
    clients: dict[tuple[ServerProcess, str], list[str]] = field(default_factory=dict)
    deleted_routes: list[tuple[str, str]] = field(default_factory=list)
    ids: dict[ServerProcess, int] = field(default_factory=dict)
    follows: dict[ServerProcess, str] = field(default_factory=dict)
    controllers: dict[ServerProcess, tuple[str, bool]] = field(
        default_factory=dict
    )  # (leader, leads)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)  # by group
    # How many sends a master refuses until its slave has reported; and which it was sent.
    unreported: dict[ServerProcess, int] = field(default_factory=dict)
    sent: list[tuple[ServerProcess, str]] = field(default_factory=list)
    denied: dict[int, str] = field(default_factory=dict)  # what brokers' access control refuses
    # By code of request: what brokers answer instead; None for no answer.
    spoilt: dict[int, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for server in servers(self.layout.hosts):
            self.topics[server], self.groups[server] = {"SELF_TEST_TOPIC"}, {"TOOLS_CONSUMER"}
            self.ends[server] = 1000

    @property
    def by_place(self) -> dict[tuple[str, int], ServerProcess]:
        every = servers(self.layout.hosts)
        return {(one.address or one.host, one.port): one for one in every}

    @property
    def brokers(self) -> list[ServerProcess]:
        return [one for one in servers(self.layout.hosts) if one.is_broker]

    def server(self, process: str, host: str = "") -> ServerProcess:
        return next(
            one
            for one in servers(self.layout.hosts)
            if one.process == process and host in ("", one.host)
        )

    def leads(self, leader: ServerProcess, more: int = 1) -> None:
        """Of its group: shown with 0; the others with their numbers and so many more."""
        for one in self.brokers:
            if one.group == leader.group:
                self.ids[one] = MASTER_ID if one == leader else one.id + more
                self.follows[one] = f"n{leader.id}"

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        every = servers(self.layout.hosts)
        votes = {(one.address or one.host, one.votes_at): one for one in every}
        voter = votes.get((arguments["host"], arguments["port"]))
        server = voter or self.by_place[arguments["host"], arguments["port"]]
        if f"{server.host} {server.process}" in self.dead:
            if name == "greet_by":
                return {"answered": False}
            raise AgentTimeout("silent")
        if name == "greet_by":
            return {"answered": True}
        if server.is_broker and arguments["code"] in self.spoilt:
            body = self.spoilt[arguments["code"]]
            if body is None:
                raise AgentTimeout("silent")
            return {"code": 0, "remark": "", "fields": {}, "body": body}
        if server.is_broker and arguments["code"] in self.denied:
            remark = self.denied[arguments["code"]]
            return {"code": REFUSED, "remark": remark, "fields": {}, "body": ""}
        if voter is not None:
            code, fields, text = self._of_voter(server, arguments["code"], arguments["body"])
        else:
            answer = self._of_broker if server.is_broker else self._of_name_server
            code, fields, text = answer(server, arguments["code"], arguments["fields"])
        return {"code": code, "remark": "", "fields": fields, "body": text}

    # --- who votes -------------------------------------------------------------------------------

    def _of_voter(self, server: ServerProcess, code: int, body: str) -> Said:
        match code:
            case Code.DLEDGER_METADATA:
                known = json.loads(body)["group"] == server.group
                said = {"code": 200 if known else 401, "leaderId": self.follows.get(server)}
                return 200, {}, json.dumps(said)
            case Code.CONTROLLER_GET_METADATA_INFO:
                leader, leads = self.controllers[server]
                fields = {"controllerLeaderId": leader, "isLeader": str(leads).lower()}
                return 0, fields, ""
            case Code.CONTROLLER_GET_SYNC_STATE_DATA:
                states = {group: self.states[group] for group in json.loads(body)}
                return 0, {}, json.dumps({"replicasInfoTable": states})
        return UNKNOWN, {}, ""

    # --- name servers ----------------------------------------------------------------------------

    def _of_name_server(self, server: ServerProcess, code: int, fields: dict[str, str]) -> Said:
        shown = self._shown(server)
        match code:
            case Code.GET_BROKER_CLUSTER_INFO:
                return 0, {}, json.dumps({"brokerAddrTable": self._addresses(shown)})
            case Code.GET_ROUTEINFO_BY_TOPIC:
                held = [one for one in shown if fields["topic"] in self.topics[self._master(one)]]
                queues = [
                    {"brokerName": one, "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
                    for one in sorted({one.group for one in held if self._id(one) == MASTER_ID})
                ]
                if not held:
                    return NOT_THERE, {}, ""
                data = list(self._addresses(held).values())
                return 0, {}, json.dumps({"brokerDatas": data, "queueDatas": queues})
            case Code.DELETE_TOPIC_IN_NAME_SERVER:
                self.deleted_routes.append((server.host, fields["topic"]))
                return 0, {}, ""
        return UNKNOWN, {}, ""

    def _shown(self, server: ServerProcess) -> list[ServerProcess]:
        alive = (one for one in self.brokers if f"{one.host} {one.process}" not in self.dead)
        shown = [one for one in alive if (server.host, one.process) not in self.hidden]
        return shown + self.strangers

    def _id(self, one: ServerProcess) -> int:
        return self.ids.get(one, one.id)

    def _master(self, one: ServerProcess) -> ServerProcess:
        group = [other for other in self.brokers if other.group == one.group]
        return next((other for other in group if self._id(other) == MASTER_ID), group[0])

    def _addresses(self, shown: list[ServerProcess]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for one in shown:
            data = table.setdefault(one.group, {"brokerName": one.group, "brokerAddrs": {}})
            data["brokerAddrs"][str(self._id(one))] = one.advertised
        return table

    # --- brokers ---------------------------------------------------------------------------------

    def _of_broker(self, server: ServerProcess, code: int, fields: dict[str, str]) -> Said:
        match code:
            case Code.GET_BROKER_RUNTIME_INFO:
                end = str(self.ends[server])
                table = {"commitLogMinOffset": "0", "commitLogMaxOffset": end}
                return 0, {}, json.dumps({"table": {**table, "brokerVersionDesc": "V4_9_7"}})
            case Code.GET_BROKER_CONFIG:
                role = "SYNC_MASTER" if self._id(server) == MASTER_ID else "SLAVE"
                return 0, {}, f"brokerName={server.group}\nbrokerRole={role}\n"
            case Code.GET_ALL_TOPIC_CONFIG:
                topics = {name: _topic(name) for name in self.topics[server]}
                return 0, {}, json.dumps({"topicConfigTable": topics})
            case Code.GET_ALL_SUBSCRIPTION_GROUPS:
                known: dict[str, dict[str, Any]] = {name: {} for name in self.groups[server]}
                return 0, {}, json.dumps({"subscriptionGroupTable": known})
            case Code.GET_CONSUMER_CONNECTIONS:
                found = self.clients.get((server, fields["consumerGroup"]))
                listed = _clients(found or [])
                return (0 if found else REFUSED), {}, json.dumps({"connectionSet": listed})
            case Code.SEND_MESSAGE_V2:
                self.sent.append((server, fields["b"]))
                left = self.unreported.get(server, 0)
                self.unreported[server] = max(0, left - 1)
                return (RemotingAnswer.FLUSH_SLAVE_TIMEOUT if left else 0), {}, ""
            case Code.PULL_MESSAGE:
                return RemotingAnswer.PULL_NOT_FOUND, {}, ""
            case Code.GET_ALL_PRODUCERS:
                groups = {
                    group: _clients(names)
                    for (at, group), names in self.clients.items()
                    if at == server and "writers" in group
                }
                return 0, {}, json.dumps({"data": groups})
        return self._order(server, code, fields)

    def _order(self, server: ServerProcess, code: int, fields: dict[str, str]) -> Said:
        if self._id(server) != MASTER_ID and not self.slaves_take_orders:
            return REFUSED, {}, ""
        match code:
            case Code.UPDATE_AND_CREATE_TOPIC:
                for one in self.brokers:
                    if one.group == server.group:
                        self.topics[one].add(fields["topic"])
            case Code.DELETE_TOPIC_IN_BROKER:
                self.topics[server].discard(fields["topic"])
            case Code.DELETE_SUBSCRIPTION_GROUP:
                self.groups[server].discard(fields["groupName"])
            case _:
                return UNKNOWN, {}, ""
        return 0, {}, ""


def _clients(names: list[str]) -> list[dict[str, str]]:
    return [{"clientId": f"10.0.0.9@{name}"} for name in names]


def _topic(name: str) -> dict[str, Any]:
    return {"topicName": name, "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
