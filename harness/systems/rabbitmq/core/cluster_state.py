"""PURE: what the management API's answers mean for the run.

1. A queue whose home is down has no master, whatever node it still names.
2. A cluster is clean when every host says so itself: in a partition each sees another one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.cluster.port import Roles
from harness.plan.model import Layout
from harness.systems.rabbitmq.core.alarms import ALARMS

_NODE = "rabbit@"
DROPPING = ("message-ttl", "expires", "max-length", "max-length-bytes", "max-age")
_POLICIES = ("policy", "operator_policy")
_DEAD = frozenset({"down", "stopped", "crashed", "terminated"})


def roles_of(queue: dict[str, Any]) -> Roles:
    """Mirrors in age order; the API lists those that are synchronised in another order."""
    mirrors = hosts_of(queue.get("slave_nodes"))
    synchronised = frozenset(hosts_of(queue.get("synchronised_slave_nodes")))
    return Roles(
        master=master_of(queue),
        mirrors=mirrors,
        synchronised=tuple(host for host in mirrors if host in synchronised),
    )


def master_of(queue: dict[str, Any]) -> str | None:
    state = queue.get("state")
    if isinstance(state, str) and state in _DEAD:
        return None
    node = queue.get("node")
    return host_of(node) if isinstance(node, str) else None


def runs(host: str, nodes: list[dict[str, Any]]) -> bool:
    """Whether a list of nodes says that the host's is running."""
    return any(host_of(str(node.get("name"))) == host and node.get("running") for node in nodes)


def of_running(roles: Roles, nodes: list[dict[str, Any]]) -> Roles:
    """Return the roles without mirrors whose hosts do not run by a list of nodes. Those may have
    held everything, so fewer of the others do for certain."""
    left = tuple(host for host in roles.mirrors if runs(host, nodes))
    least = max(0, roles.synchronised_at_least - (len(roles.mirrors) - len(left)))
    return replace(roles, mirrors=left, synchronised_at_least=least)


def members(nodes: list[dict[str, Any]]) -> tuple[str, ...]:
    """The hosts of a list of nodes, of those that are down, too."""
    return tuple(host_of(str(node.get("name"))) for node in nodes)


def alarms(nodes: list[dict[str, Any]], resource: str) -> dict[str, bool]:
    """Return host -> whether it is in alarm; without nodes that are down or not reported."""
    key = ALARMS[resource]
    return {
        host_of(str(node.get("name"))): bool(node[key])
        for node in nodes
        if node.get("running") and key in node
    }


def mirrors_wanted(queue: dict[str, Any], hosts: int) -> int:
    """Return it by the policy of a queue; 0 if none mirrors it, or the policy is unknown."""
    definition = queue.get("effective_policy_definition")
    definition = definition if isinstance(definition, dict) else {}
    parameter = definition.get("ha-params")
    match definition.get("ha-mode"):
        case "all":
            return hosts - 1
        case "exactly" if isinstance(parameter, int):
            return min(parameter, hosts) - 1
        case "nodes" if isinstance(parameter, list):
            return max(len(parameter) - 1, 0)
    return 0


def dropping(queue: dict[str, Any]) -> str:
    """Return why a queue loses messages by a policy of its owner's; "" if it does not."""
    definition = queue.get("effective_policy_definition")
    keys = [key for key in DROPPING if isinstance(definition, dict) and key in definition]
    if not keys:
        return ""
    by = " and ".join(str(queue[key]) for key in _POLICIES if queue.get(key)) or "a policy"
    return f"{queue.get('name')}: {by} sets {', '.join(keys)}, so the broker drops messages"


def named(
    queues: list[dict[str, Any]] | None, prefixes: tuple[str, ...]
) -> list[dict[str, Any]] | None:
    """Those whose names begin so; None stays None."""
    found = (queue for queue in queues or () if str(queue.get("name")).startswith(prefixes))
    return None if queues is None else list(found)


def doubts(
    layout: Layout,
    nodes: dict[str, Any],
    queues: dict[str, Any],
    of_queue: Callable[[Layout, dict[str, Any]], list[str]],
) -> tuple[str, ...]:
    """What stands against a clean cluster. Nodes, queues: host -> its own word, None for none; a
    host that has no API to be asked is in neither, and known by the word of others alone. Without
    an entry in `queues` none of a host's queues counts."""
    found: list[str] = []
    for host in (host.name for host in layout.hosts if host.name in nodes):
        listed = queues.get(host, ())
        if nodes[host] is None:
            found.append(f"{host} does not answer")
        else:
            found += [f"{host} says: {doubt}" for doubt in _node_doubts(layout, nodes[host])]
            if listed is None:
                found.append(f"{host} does not report its queues")
        for queue in listed or ():
            found += [f"{host} says: {doubt}" for doubt in of_queue(layout, queue)]
    return tuple(found)


def _node_doubts(layout: Layout, listed: list[dict[str, Any]]) -> list[str]:
    by_host = {host_of(str(node.get("name"))): node for node in listed}
    found: list[str] = []
    for host in (host.name for host in layout.hosts):
        node = by_host.get(host)
        if node is None or not node.get("running"):
            found.append(f"{host} is not {'listed' if node is None else 'running'}")
            continue
        if node.get("partitions"):
            found.append(f"{host} is partitioned from {', '.join(hosts_of(node['partitions']))}")
        found += [f"{host} has a {alarm}" for alarm in ALARMS.values() if node.get(alarm)]
    return found


def queue_doubts(layout: Layout, queue: dict[str, Any]) -> list[str]:
    """Of a queue that a policy governs: its master, mirrors and their synchronisation."""
    if not queue.get("policy") or layout.copies is None or layout.copies == 1:
        return []
    name, roles = queue.get("name"), roles_of(queue)
    if roles.master is None:
        return [f"{name} has no master"]
    if len(roles.mirrors) < layout.copies - 1:
        return [f"{name} has {len(roles.mirrors)} of {layout.copies - 1} mirrors"]
    behind = [host for host in roles.mirrors if host not in (roles.synchronised or ())]
    if behind and layout.synchronise == "automatic":
        return [f"{name} is not synchronised on {', '.join(behind)}"]
    return []


def hosts_of(nodes: Any) -> tuple[str, ...]:
    return tuple(host_of(str(node)) for node in nodes or ())


def host_of(node: str) -> str:
    return node.removeprefix(_NODE)
