"""TOML text -> Topology: one that can be used, or every problem that stands against it.

1. All problems at once, each with its place and the valid choices.
2. What hangs on several keys is checked even where other keys are wrong, as far as it can be.
3. Nothing is asked of the world here: whether a variable is set or a broker answers is seen later.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from pydantic import ValidationError

from faults.commands import HostCommand
from faults.kinds import by_command
from harness.outside.text import brief
from harness.plan.findings import Finding, document_of, of_shape, told
from harness.plan.model import Host, Layout, PauseIfAllDown, Policy
from harness.plan.problems import PlanError, Problem, nearest
from harness.plan.topology import EMBEDDED, Broker, Proxy, Topology, bracketed
from harness.plan.topology_shape import BROKERS_MAX, BrokerTable, ProxyTable, TopologyTable

TOPOLOGY_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_PAUSE = "pause_if_all_down"
OUR_POLICY = "mqproof."  # how the names of policies begin that are made here
_OUR_QUEUES = r"^mqproof\."
_PLACES = (
    "only on this machine: workers elsewhere would need mqproof there, and a clock that is "
    "compared with this one's"
)


def read_topology(name: str, source: str, systems: Sequence[str], file: str = "") -> Topology:
    """`systems`: the names that `system` may be. Raises PlanError with every problem in it."""
    file = file or f"{name}.toml"
    document = document_of(source, file)
    found: Iterator[Finding] = _cross_checks(document, systems)
    try:
        table = TopologyTable.model_validate(document)
    except ValidationError as errors:
        found = chain(found, map(_of_place, of_shape(errors, TopologyTable)))
    problems = told(found, source, file)
    if not TOPOLOGY_NAME.fullmatch(name):
        text = "a topology's name (its file's) has small letters, digits and hyphens, at most 31"
        problems.insert(0, Problem(file, f"{text}, a letter first; not {brief(name)}"))
    if problems:
        raise PlanError(problems)
    return _topology(name, table, source)


def layout_of(topology: Topology) -> Layout:
    """The topology as runs know it: hosts, timer, and what is declared."""
    return Layout(
        name=topology.name,
        profile=f"T={topology.timer_s:g}",
        system=topology.system,
        title=topology.title,
        hosts=tuple(Host(one.host, one.address, (one.node,)) for one in topology.brokers),
        timer_s=topology.timer_s,
        copies=topology.copies,
        synchronise=topology.synchronise,
        partition_handling=topology.partition_handling,
        pause_if_all_down=_pause(topology),
        policies=tuple(_policies(topology)),
        topology=topology,
    )


def _pause(topology: Topology) -> PauseIfAllDown | None:
    if not topology.pause_hosts:
        return None
    return PauseIfAllDown(topology.pause_hosts, topology.pause_recover)


def _policies(topology: Topology) -> Iterator[Policy]:
    """What mirrors the queues of runs as the file says, where mqproof is to see to that."""
    if not topology.sets_policy or topology.copies == 1:
        return
    assert topology.copies is not None, "who sets a policy says how many copies"
    every = topology.copies == len(topology.brokers)
    mode: dict[str, str | int] = {"ha-mode": "all"}
    if not every:
        mode = {"ha-mode": "exactly", "ha-params": topology.copies}
    mode["ha-sync-mode"] = "automatic" if topology.synchronise == "automatic" else "manual"
    yield Policy(f"{OUR_POLICY}{topology.name}", _OUR_QUEUES, tuple(mode.items()))


def _topology(name: str, table: TopologyTable, source: str) -> Topology:
    proxy, pause = table.proxy, table.pause_if_all_down
    return Topology(
        name=name,
        title=table.title,
        system=table.system,
        timer_s=table.net_ticktime,
        brokers=tuple(_broker(broker) for broker in table.broker),
        user=table.credentials.user,
        password=table.credentials.password,
        proxy=None if proxy is None else _proxy(proxy),
        sets_policy=table.queues.policies == "set",
        copies=table.queues.copies,
        synchronise=table.queues.synchronise or "",
        partition_handling=table.partition_handling or "",
        pause_hosts=() if pause is None else tuple(pause.hosts),
        pause_recover="" if pause is None else pause.recover,
        source=source,
    )


def _proxy(table: ProxyTable) -> Proxy:
    if table.at is None:
        return Proxy(start=table.start or "")
    host, port = table.at
    return Proxy(at=f"{bracketed(host)}:{port}", listen=table.listen or host)


def _broker(table: BrokerTable) -> Broker:
    commands = {"kill": table.kill, "stop": table.stop, "freeze": table.freeze}
    assert commands.keys() == set(by_command()), commands
    address, port = table.amqp
    return Broker(
        host=table.host,
        node=table.node,
        address=address,
        port=port,
        management=table.management,
        commands={
            kind: HostCommand(one.do, one.undo, one.verify, one.deadline)
            for kind, one in commands.items()
            if one is not None
        },
    )


# --- what is wrong with a file ------------------------------------------------------------------


def _cross_checks(document: Mapping[str, Any], systems: Sequence[str]) -> Iterator[Finding]:
    """Checks that need more than one key, or know more than a key; what is missing or ill-typed
    is left to the shape."""
    system = document.get("system")
    if isinstance(system, str) and system not in systems:
        guess = nearest(system, systems)
        yield Finding(("system",), f"there is no system {brief(system)}", tuple(systems), guess)
    listed = _list(document.get("broker"))[:BROKERS_MAX]
    brokers = [one for one in listed if isinstance(one, dict)]
    for key in ("host", "node", "amqp", "management"):
        yield from _twice(key, brokers)
    yield from _proxy_checks(document.get("proxy"))
    yield from _queue_checks(document.get("queues"), len(brokers))
    yield from _pause_checks(document, [one.get("host") for one in brokers])


def _twice(key: str, brokers: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, broker in enumerate(brokers):
        value = broker.get(key)
        if isinstance(value, str) and value in seen:
            yield Finding(("broker", index, key), f"{brief(value)} is another broker's already")
        elif isinstance(value, str):
            seen.add(value)


def _proxy_checks(proxy: object) -> Iterator[Finding]:
    if not isinstance(proxy, dict):
        return
    if ("start" in proxy) == ("at" in proxy):
        text = "either mqproof starts a proxy, or it uses one that is there"
        choices = ('start = "embedded"', 'start = "/path/to/toxiproxy-server"', 'at = "HOST:PORT"')
        yield Finding(("proxy",), text, choices)
    if "listen" in proxy and "at" not in proxy:
        text = "only a proxy that is there listens elsewhere; one of ours does on loopback"
        yield Finding(("proxy", "listen"), text)
    start = proxy.get("start")
    if isinstance(start, str) and start != EMBEDDED and nearest(start, (EMBEDDED,)):
        text = f"{brief(start)} would be run as a program"
        programs = (f'"{EMBEDDED}"', '"/path/to/toxiproxy-server"')
        yield Finding(("proxy", "start"), text, programs, EMBEDDED)


def _queue_checks(queues: object, brokers: int) -> Iterator[Finding]:
    if not isinstance(queues, dict):
        return
    copies = queues.get("copies")
    if isinstance(copies, int) and brokers and copies > brokers:
        yield Finding(("queues", "copies"), f"{copies} copies on {brokers} brokers")
    if queues.get("policies") == "set":
        for key in ("copies", "synchronise"):
            if key not in queues:
                yield Finding(("queues", key), "is missing: whoever sets a policy says what it is")


def _pause_checks(document: Mapping[str, Any], hosts: Sequence[object]) -> Iterator[Finding]:
    pause, pauses = document.get(_PAUSE), document.get("partition_handling") == _PAUSE
    if pauses and pause is None:
        text = f"needs a table [{_PAUSE}] with hosts (who sees none of them pauses) and recover"
        yield Finding(("partition_handling",), text)
    if pause is not None and not pauses:
        yield Finding((_PAUSE,), f"is only for partition_handling = {_PAUSE!r}")
    known = [host for host in hosts if isinstance(host, str)]
    wanted = _list(pause.get("hosts"))[:BROKERS_MAX] if isinstance(pause, dict) else []
    for host in wanted:
        if isinstance(host, str) and host not in known:
            text = f"there is no broker's host {brief(host)}"
            yield Finding((_PAUSE, "hosts"), text, tuple(known), nearest(host, known))


def _of_place(finding: Finding) -> Finding:
    """Why there is one word only for where workers run."""
    if finding.path != ("workers", "place"):
        return finding
    return replace(finding, text=f"{finding.text}: workers run {_PLACES}")


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
