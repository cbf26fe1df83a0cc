"""`[workload.rocketmq]`: what only a client of RocketMQ knows.

The given shares of the sequences are delayed, or halves of transactions. Without any, this is the
workload that every client can carry.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from harness.outside.text import brief
from harness.plan.clients.rocketmq_table import RocketTable, send_of
from harness.plan.clients.rocketmq_terms import NO_DELAY, fate_of, level_of
from harness.plan.clients.section import COUNTED, Section
from harness.plan.layouts.servers import Servers
from harness.plan.workload import Workload
from spark_analysis.schema.words import Fate


@dataclass(frozen=True, slots=True)
class RocketWorkload:
    """What the section says."""

    send: str = "async"  # sync, async, oneway, ordered
    consume: str = "concurrent"  # concurrent, orderly, pull
    send_timeout_ms: int = 3000
    threads: int = 4  # that consume
    batch: int = 32  # messages a pull and a call of the listener, at most
    delayed_percent: int = 0
    delay_level: int = 3  # of what is delayed: 1 to 18
    transactional_percent: int = 0
    fates: tuple[str, ...] = ("commit",)  # of what is transactional, in turn
    # Whose name server is asked when the load begins, of workers in turn: hosts, or
    # `name server N`, counted as the layout has them; none: any.
    publishers_attach: tuple[str, ...] = ()
    consumers_attach: tuple[str, ...] = ()
    latency_fault: bool = False
    close_socket_if_timeout: bool | None = None  # None: as the library does by itself
    # The file says no `send`, so a client without async sends sync.
    send_is_open: bool = field(default=False, compare=False)


_SAYS_NOTHING = (RocketWorkload(), RocketWorkload(send="oneway"))  # but what `confirms` says

CONSUME_TIMEOUT_S = 900.0  # consumeTimeout of concurrent consumers, 15 minutes

# What the two remedies are called by the library itself (docs/behaviour/rocketmq.md 1 and 9.5).
_LATENCY_FAULT = "sendLatencyFaultEnable"
_NUMBERED = re.compile(r"name server ([1-9][0-9]?)")
_CLOSE_SOCKET = "-Dcom.rocketmq.remoting.client.closeSocketIfTimeout="


def _value(table: RocketTable, confirms: bool) -> RocketWorkload:
    return RocketWorkload(
        send=table.send or send_of(confirms),
        send_is_open=not table.send,
        consume=table.consume,
        send_timeout_ms=table.send_timeout,
        threads=table.threads,
        batch=table.batch,
        delayed_percent=table.delayed_percent,
        delay_level=table.delay_level,
        transactional_percent=table.transactional_percent,
        fates=tuple(table.fates),
        publishers_attach=tuple(table.publishers_attach),
        consumers_attach=tuple(table.consumers_attach),
        latency_fault=table.latency_fault,
        close_socket_if_timeout=table.close_socket_if_timeout,
    )


def _fitted(own: RocketWorkload, can: Callable[[str], bool]) -> RocketWorkload:
    """A client that has no async sends sync, unless the file asks for async."""
    blocks = own.send_is_open and own.send == "async" and not can("async")
    return replace(own, send="sync") if blocks else own


def _requires(own: RocketWorkload, workload: Workload) -> Iterator[str]:
    if workload.publishers > 0:
        yield own.send
    if workload.consumers > 0:
        yield own.consume
        # Each thread has a batch, and the last of these messages waits for all others.
        held_s = own.threads * own.batch * workload.processing_s
        if own.consume == "concurrent" and held_s >= CONSUME_TIMEOUT_S:
            yield "long processing"
    if own.publishers_attach or own.consumers_attach:
        yield "attach"
    if own.latency_fault:
        yield "latency fault"
    if own.close_socket_if_timeout is not None:
        yield "close socket"


def _requires_of_all(own: RocketWorkload) -> Iterator[str]:
    if own.delayed_percent > 0:
        yield "delayed"
    if own.transactional_percent > 0:
        yield "transaction"


def _obstacles(own: RocketWorkload, servers: Servers) -> Iterator[str]:
    known = _with_name_servers(servers)
    for key, whose in _attached(own):
        for one in dict.fromkeys(whose):
            if _host_meant(one, servers) not in known:
                there = f"there are those of {', '.join(known)}" if known else "there are none"
                none = f"there is no {one}" if _NUMBERED.fullmatch(one) else ""
                yield f"{key}: {none or f'{brief(one)} has no name server'} ({there})"
    if own.send == "ordered" and own.latency_fault:
        yield "latency_fault: what is sent ordered takes its queue by its key"
    if own.close_socket_if_timeout is not None:
        flags = [one for one in servers.client_flags if one.startswith(_CLOSE_SOCKET)]
        yield from (f"close_socket_if_timeout: the layout says it, too: {one}" for one in flags)


def _attached(own: RocketWorkload) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("publishers_attach", own.publishers_attach),
        ("consumers_attach", own.consumers_attach),
    )


def _with_name_servers(servers: Servers) -> tuple[str, ...]:
    """The hosts, in the layout's order."""
    return tuple(dict.fromkeys(one.host for one in servers.name_servers))


def _host_meant(word: str, servers: Servers) -> str:
    """The host of a word like `name server 2`, counted as the layout has them; else the word."""
    hosts = _with_name_servers(servers)
    number = _NUMBERED.fullmatch(word)
    return hosts[int(number[1]) - 1] if number and int(number[1]) <= len(hosts) else word


def _hosts_meant(words: tuple[str, ...], servers: Servers) -> list[str]:
    return [_host_meant(word, servers) for word in words]


def _shown(own: RocketWorkload) -> Iterator[str]:
    if own.send_is_open and own.send == "sync":
        yield "send = sync (the library has no async send)"
    for key, hosts in _attached(own):
        if hosts:
            yield f"{key} = {', '.join(hosts)}{' (in turn)' if len(hosts) > 1 else ''}"
    yield from (f"{name} = {value} (publishers)" for name, value in _producer_settings(own))
    yield from _flags(own)


def _producer_settings(own: RocketWorkload) -> list[list[str]]:
    return [[_LATENCY_FAULT, "true"]] if own.latency_fault else []


def _flags(own: RocketWorkload) -> list[str]:
    value = own.close_socket_if_timeout
    return [] if value is None else [f"{_CLOSE_SOCKET}{str(value).lower()}"]


def _worker_options(own: RocketWorkload, servers: Servers) -> dict[str, Any]:
    """harness.workers.clients.rocketmq.options.RocketOptions."""
    return {
        "producer": own.send,
        "consumer": own.consume,
        "send_timeout_ms": own.send_timeout_ms,
        "delayed_percent": own.delayed_percent,
        "delay_level": own.delay_level,
        "transactional_percent": own.transactional_percent,
        "fates": list(own.fates),
        "threads": own.threads,
        "batch": own.batch,
        "settings": [list(setting) for setting in servers.client_settings],
        "producer_settings": _producer_settings(own),
        "jvm": [*servers.client_flags, *_flags(own)],
        "publishers_attach": _hosts_meant(own.publishers_attach, servers),
        "consumers_attach": _hosts_meant(own.consumers_attach, servers),
    }


def _counted(own: RocketWorkload, workload: Workload, load_s: float) -> dict[str, int]:
    each = (workload.rate or 0) / workload.publishers
    special = own.delayed_percent or own.transactional_percent
    sequences = range(int(each * load_s) if special else 0)
    fates = Counter(fate_of(own, sequence) for sequence in sequences)
    delayed = sum(level_of(own, sequence) != NO_DELAY for sequence in sequences)
    of_each = {
        "delayed_messages": delayed,
        "messages_in_transactions": fates.total() - fates[Fate.NONE],
        "messages_to_commit": fates[Fate.COMMIT],
        "messages_to_check": fates[Fate.COMMIT_WHEN_CHECKED],
    }
    return {name: number * workload.publishers for name, number in of_each.items()}


SECTION = Section(
    key="rocketmq",
    shape=RocketTable,
    value=_value,
    by_client=("latency_fault", "close_socket_if_timeout"),
    fitted=_fitted,
    problems=RocketTable.problems,
    says=lambda own: own not in _SAYS_NOTHING,
    facts={},
    own_facts={},
    not_applicable="",
    requires=_requires,
    requires_of_all=_requires_of_all,
    obstacles=_obstacles,
    shows=_shown,
    worker_options=_worker_options,
    counts=_counted,
    counted=COUNTED,
)
