"""PURE: what the answers of RocketMQ's servers mean for the run.

1. Clients rely on name servers. A cluster is clean when every name server shows exactly the
   layout's brokers, each at its address and with its id.
2. A slave is synchronised if it holds what its master held at the query before.
3. The topic's home group (harness/systems/rocketmq/core/layout.py) has its master and its mirrors.
   leading.py reports the leaders.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from faults.core.places import place as place_of
from harness.cluster.port import Roles
from harness.systems.rocketmq.core.layout import MASTER_ID, ServerProcess
from harness.systems.rocketmq.core.settings import CLUSTER
from harness.workers.remoting import json_text
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.routes import View
from spark_analysis.schema.views import Shown

T = TypeVar("T")
RETRY, DEAD_LETTER = "%RETRY%", "%DLQ%"
Ends = Mapping[ServerProcess, int | None]  # broker -> where its log ends; None: it does not answer


def masters_of(brokers: Iterable[ServerProcess]) -> list[ServerProcess]:
    return [one for one in brokers if one.id == MASTER_ID]


def without_master(brokers: Sequence[ServerProcess]) -> list[str]:
    """Return the groups without a known leader."""
    led = {one.group for one in masters_of(brokers)}
    return sorted({one.group for one in brokers} - led)


def doubts(
    brokers: Sequence[ServerProcess], views: Mapping[ServerProcess, View | None], ends: Ends
) -> tuple[str, ...]:
    """What stands against a clean cluster. `views`: by name server, None for no answer."""
    found = [f"{group} has no master" for group in without_master(brokers)]
    for server, view in views.items():
        if view is None:
            found.append(f"{_word(server)} does not answer")
        else:
            found += [f"{_word(server)} {doubt}" for doubt in _view_doubts(brokers, view)]
    found += [f"{_word(one)} does not answer" for one in brokers if ends.get(one) is None]
    return (*found, *_lags(brokers, ends))


def _view_doubts(brokers: Sequence[ServerProcess], view: View) -> Iterable[str]:
    wanted = sorted(Shown(one.group, one.id, one.advertised) for one in brokers)
    for one in wanted:
        if one not in view.brokers:
            yield f"does not list {_listed(one)}"
    for one in view.brokers:
        if one not in wanted:
            yield f"lists {_listed(one)}, which is not in the layout"


def _listed(broker: Shown) -> str:
    """Return `rkt1:10911 as the master of broker-a`."""
    role = broker.role if broker.id else f"the {broker.role}"
    return f"{broker.address} as {role} of {broker.broker}"


def _lags(brokers: Sequence[ServerProcess], ends: Ends) -> Iterable[str]:
    masters = {one.group: one for one in masters_of(brokers)}
    for slave in brokers:
        master = masters.get(slave.group)
        end, wanted = ends.get(slave), ends.get(master) if master else None
        if end is not None and wanted is not None and end < wanted:
            yield f"{_word(slave)} is {wanted - end} bytes behind its master"


def holders(
    group: str, brokers: Sequence[ServerProcess], views: Iterable[View]
) -> list[ServerProcess]:
    """The brokers of a group that any of these views shows where they are, by id. A name server
    may have it with another id: what it heard last."""
    shown = _places(views)
    return [
        one
        for one in sorted(brokers, key=lambda one: one.id)
        if one.group == group and (one.group, one.advertised) in shown
    ]


def _places(views: Iterable[View]) -> set[tuple[str, str]]:
    """(group, address) of every broker that is shown."""
    return {(one.broker, one.address) for view in views for one in view.brokers}


def roles_of(held: Sequence[ServerProcess], synchronised: Sequence[ServerProcess]) -> Roles:
    """Return the roles. Slaves are in the order of their ids: their age is unknown."""
    masters = [one.host for one in masters_of(held)]
    return Roles(
        master=masters[0] if masters else None,
        mirrors=tuple(one.host for one in held if one.id != MASTER_ID),
        synchronised=tuple(one.host for one in held if one in synchronised),
    )


def deciding(answering: Mapping[ServerProcess, T]) -> dict[ServerProcess, T]:
    """Of the brokers that answer those whose word counts for clients: masters, and slaves whose
    master does not answer."""
    led = {one.group for one in masters_of(answering)}
    return {
        one: end for one, end in answering.items() if one.id == MASTER_ID or one.group not in led
    }


def at(place: str, every: Iterable[ServerProcess]) -> list[ServerProcess]:
    """The servers of a host, or the one that is a process of it (faults/core/places.py)."""
    return [one for one in every if place in (one.host, place_of(one.host, one.process))]


def lists(view: View, brokers: Iterable[ServerProcess]) -> bool:
    """Whether a name server shows all of these where they are."""
    return {(one.group, one.advertised) for one in brokers} <= _places([view])


def shows_all(view: View, others: Iterable[View]) -> bool:
    """Whether a name server shows anybody, and every broker that another one shows."""
    shown = _places(others)
    return bool(shown) and shown <= _places([view])


def claims(configuration: str) -> bool:
    """Whether a broker that is so configured takes itself for a master."""
    pairs = (line.partition("=") for line in configuration.splitlines())
    settings = {key.strip(): value.strip() for key, _, value in pairs}
    return settings.get("brokerRole", "") in ("SYNC_MASTER", "ASYNC_MASTER")


def of_runs(names: Iterable[str], prefix: str) -> tuple[str, ...]:
    """Topics and groups that begin so, and what brokers themselves made of such groups; without
    the topic for replies, whose name begins with the cluster's: every broker has it."""
    beginnings = (prefix, f"{RETRY}{prefix}", f"{DEAD_LETTER}{prefix}")
    found = {name for name in names if name.startswith(beginnings)}
    return tuple(sorted(found - {f"{CLUSTER}_REPLY_TOPIC"}))


def groups(body: bytes) -> tuple[str, ...]:
    """Of GET_ALL_SUBSCRIPTION_GROUPS, by name. Raises WireError."""
    try:
        return tuple(sorted(json_text.read_object(body)["subscriptionGroupTable"]))
    except (KeyError, TypeError) as error:
        raise WireError(f"no subscription groups: {error!r} in {body[:200]!r}") from error


def consumers(body: bytes) -> tuple[str, ...]:
    """Of GET_CONSUMER_CONNECTIONS: the names that clients gave themselves. Raises WireError."""
    try:
        return _instances(json_text.read_object(body)["connectionSet"])
    except (KeyError, TypeError, IndexError) as error:
        raise WireError(f"no connections: {error!r} in {body[:200]!r}") from error


def producers(body: bytes) -> tuple[str, ...]:
    """Of GET_ALL_PRODUCERS, likewise. Raises WireError."""
    try:
        groups = json_text.read_object(body)["data"].values()
        return tuple(sorted(name for clients in groups for name in _instances(clients)))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise WireError(f"no producers: {error!r} in {body[:200]!r}") from error


def _instances(clients: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """What stands behind their addresses: `10.0.0.9@mqproof.r1.publisher-1`, or, of librocketmq 2,
    `10.0.0.9@217#mqproof.r1.publisher-1`. Without an address, as of our own client, it is all."""
    parts = (str(one["clientId"]).split("@") for one in clients)
    behind = (own[1] if len(own) > 1 else own[0] for own in parts)
    return tuple(sorted(name.rpartition("#")[2] for name in behind))


def _word(server: ServerProcess) -> str:
    return f"{server.process} of {server.host}"
