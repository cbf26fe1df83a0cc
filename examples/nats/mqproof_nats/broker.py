"""Queries and commands of a run to the servers, through the agent: systems.port.RunningBroker.

1. What a server says of itself comes from its monitoring port; all are asked side by side.
2. Requests about streams go to the first server that answers: it passes them on.
3. A server that does not answer in time has no answer, which is one: None.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.orders import Order
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Health, Roles
from harness.plan.model import Layout
from mqproof_nats import cluster_state
from mqproof_nats.cluster_state import Report
from mqproof_nats.names import API, APPLICATION, CONSUMER, SYSTEM, deliver_subject, stream

VERSION = "nats-server"  # its name among the versions that a run records
REQUEST = "mqproof_nats.agent_calls:request"  # the agent imports it
ASK_LIMIT_S = 4.0
LEADER_LIMIT_S = 20.0
JETSTREAM = "/jsz?accounts=true&streams=true"
ROUTES, CONNECTIONS, VARIABLES = "/routez", "/connz?limit=4096", "/varz"


@dataclass(frozen=True, slots=True)
class Way:
    """Where the agent reaches a server."""

    address: str
    client_port: int
    monitoring_port: int


class NatsServers:
    """`ways`: by host, in the layout's order."""

    cannot_answer: frozenset[str] = frozenset()

    def __init__(self, layout: Layout, agent: AgentClient, ways: Mapping[str, Way]) -> None:
        self._replicas = layout.copies or 1
        self._agent = agent
        self._ways = dict(ways)

    async def declare(self, queue: str, durable: bool, host: str, max_priority: int = 0) -> None:
        assert durable, "its client declares that it cannot do transient"
        assert not max_priority, "its client does not declare that it can do priorities"
        name = stream(queue)
        await self._api(
            f"STREAM.CREATE.{name}",
            {
                "name": name,
                "subjects": [queue],
                "num_replicas": self._replicas,
                "retention": "workqueue",
                "storage": "file",
            },
        )
        consumer = {
            "durable_name": CONSUMER,
            "ack_policy": "explicit",
            "deliver_subject": deliver_subject(queue),
            "deliver_group": CONSUMER,
        }
        request = {"stream_name": name, "config": consumer, "action": "create"}
        await self._api(f"CONSUMER.CREATE.{name}.{CONSUMER}", request)
        there = partial(_led_by, host, self._replicas)
        found = await until(partial(self._moved, queue, host), there, LEADER_LIMIT_S)
        if not there(found):
            raise DeployError(f"{queue}: wanted its leader on {host}, current; found {found}")

    async def roles(self, queue: str) -> Roles:
        reports = await self._reports(JETSTREAM)
        if all(report is None for report in reports.values()):
            raise DeployError(f"no server tells who holds {queue}")
        return cluster_state.roles(reports, stream(queue))

    async def masters(self, queue: str) -> dict[str, bool | None]:
        return cluster_state.leaders(await self._reports(JETSTREAM), stream(queue))

    async def held(self, queue: str, host: str) -> int | None:
        return cluster_state.stored(await self._report(host, JETSTREAM), stream(queue))

    async def members(self, host: str) -> tuple[str, ...]:
        seen = cluster_state.running(await self._report(host, ROUTES), host)
        if seen is None:
            raise DeployError(f"{host} does not report which servers there are")
        return tuple(name for name in self._ways if name in seen)

    async def policy(self, _name: str) -> dict[str, Any] | None:
        return None  # it knows none

    async def controller(self) -> str:
        return ""  # no server decides who leads: the replicas of each stream vote

    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        answers = {
            host: report
            for host, report in (await self._reports(CONNECTIONS)).items()
            if report is not None
        }
        if not answers:
            raise DeployError("no server tells who is connected")
        found = [
            (host, str(report["server_id"]), int(one["cid"]), str(one.get("name", "")))
            for host, report in answers.items()
            for one in report.get("connections") or ()
            if str(one.get("name", "")).startswith(prefix)
        ]
        if close:
            await asyncio.gather(*(self._kick(host, id, cid) for host, id, cid, _ in found))
        return tuple(sorted(name for _, _, _, name in found))

    async def delete(self, prefix: str) -> None:
        names = (await self._api("STREAM.NAMES", {})).get("streams") or ()
        for name in names:
            if str(name).startswith(stream(prefix)):
                await self._api(f"STREAM.DELETE.{name}", {})

    async def greets(self, host: str) -> bool:
        return await self._report(host, VARIABLES) is not None

    async def listed(self, host: str) -> bool:
        """Whether every other server that answers has a route to it."""
        reports = await self._reports(ROUTES)
        others = [
            seen
            for name, report in reports.items()
            if name != host and (seen := cluster_state.running(report, name)) is not None
        ]
        if not others:
            raise DeployError(f"no other server tells whether {host} runs")
        return all(host in seen for seen in others)

    async def health(self, limit_s: float) -> Health:
        return await until(self._look, lambda health: health.clean, limit_s)

    async def set_policies(self) -> None:
        """It knows none."""

    async def versions(self) -> dict[str, str]:
        for report in (await self._reports(VARIABLES)).values():
            if report is not None:
                return {VERSION: str(report["version"])}
        raise DeployError("no server tells its version")

    async def _look(self) -> Health:
        jetstream, routes = await asyncio.gather(self._reports(JETSTREAM), self._reports(ROUTES))
        doubts = cluster_state.doubts(jetstream, routes)
        return Health(clean=not doubts, doubts=doubts)

    async def _moved(self, queue: str, host: str) -> Roles:
        """Ask a stream's leader to give way to `host`; return who leads."""
        found = await self.roles(queue)
        if found.master not in (None, host) and self._replicas > 1:
            wanted = {"placement": {"preferred": host}}
            # A replica that lags is refused as leader: that is tried again.
            await self._requested(f"STREAM.LEADER.STEPDOWN.{stream(queue)}", wanted)
        return found

    async def _kick(self, host: str, server: str, connection: int) -> None:
        """Ask a server to close a connection; one that is gone is no error."""
        subject = f"$SYS.REQ.SERVER.{server}.KICK"
        try:
            await self._request(host, subject, {"cid": connection}, *SYSTEM)
        except AgentError:
            return

    async def _api(self, subject: str, body: Report) -> dict[str, Any]:
        """Return what JetStream answers. Raise DeployError if it answers an error."""
        answer = await self._requested(subject, body)
        if error := answer.get("error"):
            raise DeployError(f"{subject}: {error.get('description', error)}")
        return answer

    async def _requested(self, subject: str, body: Report) -> dict[str, Any]:
        """Return the answer of the first server that has one. Raise DeployError."""
        reason = "there is no server"
        for host in self._ways:
            try:
                answer = await self._request(host, f"{API}.{subject}", body, *APPLICATION)
            except AgentError as error:
                reason = str(error)
                continue
            if answer["taken"]:
                return dict(json.loads(answer["text"]))
            reason = f"{host}: JetStream has no leader"
        raise DeployError(f"{subject}: {reason}")

    async def _request(
        self, host: str, subject: str, body: Report, user: str, password: str
    ) -> dict[str, Any]:
        way = self._ways[host]
        return await self._agent.call(
            REQUEST,
            timeout_s=ASK_LIMIT_S,
            host=way.address,
            port=way.client_port,
            subject=subject,
            body=json.dumps(body),
            user=user,
            password=password,
        )

    async def _reports(self, path: str) -> dict[str, Report | None]:
        reports = await asyncio.gather(*(self._report(host, path) for host in self._ways))
        return dict(zip(self._ways, reports, strict=True))

    async def _report(self, host: str, path: str) -> Report | None:
        way = self._ways[host]
        url = f"http://{way.address}:{way.monitoring_port}{path}"
        try:
            answer = await self._agent.call(
                "http", timeout_s=ASK_LIMIT_S, method="GET", url=url, headers={}, body=""
            )
            found = json.loads(answer["body"]) if answer["status"] == 200 else None
        except (AgentError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def _led_by(host: str, replicas: int, found: Roles) -> bool:
    return found.master == host and found.synchronised_min >= replicas - 1


class NoOperator:
    """harness.cluster.orders.Operator of servers that take no orders from mqproof."""

    async def carry_out(self, order: Order) -> str:
        raise DeployError(f"nats-jetstream has nothing like {type(order).__name__}")
