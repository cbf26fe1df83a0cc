"""PURE: compares what an external cluster reports with its topology file.

1. A contradiction is reported before a run begins, because verdicts would be wrong.
2. What an API does not report is no contradiction.
3. The owner's policies may not match the queues of runs: each is examined once it is declared.
"""

from collections.abc import Mapping
from typing import Any

from harness.cluster.port import DeployError, wrong_input
from harness.plan.layouts.topology import Topology
from harness.plan.layouts.versions import Versions, numbers
from harness.plan.model import Layout
from harness.plan.problems import Problem
from harness.systems.rabbitmq.core import cluster_state, khepri
from harness.systems.rabbitmq.foreign.core.own import own

AS_IT_IS = "correct the file: write `node` and `net_ticktime` as they are in the cluster"
NO_HANDLING = f'write `partition_handling = "{khepri.IGNORE}"` into the file'
OTHER_SYSTEM = "write another `system` into the file, or test another cluster"
_REFUSALS = (401, 403, 404)
_LOGIN = "[credentials]"


def refused(
    topology: Topology, statuses: Mapping[str, int | None], in_virtual_host: bool = False
) -> tuple[Problem, ...]:
    """`statuses`: what each host's management API answered to the credentials; None: nothing.

    `in_virtual_host`: to a question about its queues; or else to one about the cluster.
    """
    by_status: dict[int, list[str]] = {}
    for host, status in statuses.items():
        if status in _REFUSALS:
            by_status.setdefault(status, []).append(host)
    refusal = _refused_queues if in_virtual_host else _refused_overview
    return tuple(
        refusal(topology, f"the management API of {', '.join(hosts)} answers {status}", status)
        for status, hosts in by_status.items()
    )


def _refused_overview(topology: Topology, text: str, status: int) -> Problem:
    key, expected = {
        401: (_LOGIN, "a user of the cluster and its password"),
        403: (_LOGIN, "a user with the tag `monitoring`"),
        404: ("[[broker]], management", "the URL of the management API, before /api"),
    }[status]
    return Problem(
        topology.place(key),
        f"{text}: {_of_overview(topology, status)}",
        expected=expected,
        advice=overview_remedy(topology, status),
    )


def _refused_queues(topology: Topology, text: str, status: int) -> Problem:
    return Problem(
        topology.place("virtual_host"),
        f"{text}: {_of_virtual_host(topology, status)}",
        expected="a virtual host that the user may access",
        advice=virtual_host_remedy(topology),
    )


def lacks_tag(topology: Topology, text: str) -> Problem:
    """Return the problem of a user without a tag."""
    return Problem(
        topology.place(_LOGIN),
        text,
        expected="a user with every tag that mqproof needs",
        advice=tags_command(topology),
    )


def lacks_right(topology: Topology, found: str, remedy: str) -> Problem:
    """Return the problem of a user who may not do with a queue what runs do."""
    return Problem(
        topology.place(_LOGIN),
        found,
        expected="a user who may declare, write, read and delete queues of mqproof",
        advice=remedy,
    )


def wrong_arguments(topology: Topology, found: str) -> Problem:
    """Return the problem of a file that declares queues as brokers do not take them."""
    return Problem(
        topology.place("[queues] arguments"),
        found,
        expected=f"arguments that these brokers take for queues of {topology.system}",
        advice="correct `[queues] arguments` in the file",
    )


def _of_overview(topology: Topology, status: int) -> str:
    names = " and ".join(f"${name}" for name in topology.variables)
    return {
        401: f"it does not take what {names} hold",
        403: f"the user in ${topology.user} has no tag by which the API may be used",
        404: "at this URL there is no management API",
    }[status]


def overview_remedy(topology: Topology, status: int) -> str:
    names = " and ".join(f"${name}" for name in topology.variables)
    of_user = f"{tags_command(topology)} for the user in ${topology.user}"
    return {
        401: f"what {names} hold must be a user and its password; {of_user}",
        403: of_user,
        404: "correct `management` in the file: the URL before /api, with the plugin's "
        "`management.path_prefix` if it has one",
    }.get(status, "see the broker's log")


def _of_virtual_host(topology: Topology, status: int) -> str:
    name = topology.virtual_host
    if status == 404:
        return f"there is no virtual host {name!r}"
    return f"the user in ${topology.user} may not access the virtual host {name!r}"


def virtual_host_remedy(topology: Topology) -> str:
    return (
        f"correct `virtual_host` in the file, or `rabbitmqctl add_vhost {topology.virtual_host}`; "
        f"rights there: {permissions(topology)}"
    )


def tags_command(topology: Topology) -> str:
    """The command that gives mqproof's user its tags. It replaces all tags of the user."""
    tags = "monitoring policymaker" if topology.own.sets else "monitoring"
    return f"`rabbitmqctl set_user_tags USER {tags}` (it replaces all tags of the user)"


def permissions(topology: Topology) -> str:
    """The command that gives mqproof's user what it needs."""
    return (
        f"`rabbitmqctl set_permissions -p {topology.virtual_host} USER '^mqproof[.-]' "
        r"'^(mqproof[.-].*|amq\.default)$' '^mqproof[.-]'`"
    )


def strangers(topology: Topology, listed: list[dict[str, Any]]) -> tuple[str, ...]:
    """Nodes of the cluster that the file does not name, and the other way round."""
    named = [broker.node for broker in topology.brokers]
    found = [str(node.get("name")) for node in listed]
    mistakes = []
    if more := [name for name in found if name not in named]:
        mistakes.append(
            f"the cluster has nodes that the file does not name: {', '.join(more)} (a queue's "
            "master may lie there)"
        )
    if less := [name for name in named if name not in found]:
        mistakes.append(f"the cluster knows no node {', '.join(less)}; it has {', '.join(found)}")
    return tuple(mistakes)


def ticks(topology: Topology, listed: list[dict[str, Any]]) -> tuple[str, ...]:
    """Nodes whose net_ticktime is another one than the file's."""
    timers = {str(node.get("name")): node.get("net_ticktime") for node in listed}
    return tuple(
        f"net_ticktime of {name} is {tick} s, and {topology.detection_timeout_s:g} s in the file"
        for name, tick in timers.items()
        if isinstance(tick, int | float) and tick != topology.detection_timeout_s
    )


def versioned(
    topology: Topology, versions: Versions | None, reported: Mapping[str, str]
) -> tuple[str, ...]:
    """Why the system does not exist in the version that nodes report. `reported`: by host; ""
    is unknown."""
    found: dict[tuple[str, str], list[str]] = {}
    for host, version in reported.items():
        if versions is not None and numbers(version):
            for why in versions.obstacles(version):
                found.setdefault((version, why), []).append(host)
    return tuple(
        f"{', '.join(hosts)} report RabbitMQ {version}, without {topology.system}: {why}"
        for (version, why), hosts in found.items()
    )


def unhandled(
    topology: Topology, flags: Mapping[str, Any], versions: Mapping[str, str]
) -> tuple[str, ...]:
    """Return why the file's partition handling has no effect. `flags`, `versions`: by host, as
    reported; None and "" are unknown."""
    why = khepri.without_effect(own(topology).partition_handling)
    stores = khepri.stores(flags)
    hosts = [
        host
        for host, version in versions.items()
        if stores.get(host) == khepri.KHEPRI or khepri.has_no_mnesia(version)
    ]
    if not why or not hosts:
        return ()
    return (f"{', '.join(hosts)} keep metadata in Khepri, but {why}; {NO_HANDLING}",)


def mirrored_as_declared(layout: Layout, queue: Mapping[str, Any]) -> bool:
    """Return whether a queue of a run has a mirror, or the file says how many copies it has."""
    if layout.topology is None:
        return True
    declared = own(layout.topology)
    single = declared.mirrored_on == "none"
    return declared.copies is not None or single or bool(queue.get("slave_nodes"))


def accept(layout: Layout, queue: dict[str, Any]) -> None:
    """Raise DeployError if the owner's policies make a queue drop messages. Raise WrongInput if
    none mirrors it, and the file does not declare that."""
    if why := cluster_state.dropping(queue):
        raise DeployError(f"{why}, and claims about loss would be wrong; exempt ^mqproof[.-]")
    if layout.topology is not None and not mirrored_as_declared(layout, queue):
        raise wrong_input([_unmirrored(layout.topology, queue)])


def _unmirrored(topology: Topology, queue: Mapping[str, Any]) -> Problem:
    policy = queue.get("policy")
    why = f"the policy {policy} does not mirror it" if policy else "no policy matches its name"
    return Problem(
        topology.place("[queues]"),
        f"{queue.get('name')} has no mirror: {why}",
        expected="a policy that mirrors the queues of runs, or `copies = 1`",
        advice="give a policy with ha-mode a pattern that matches, such as `^mqproof\\.`; or "
        'write `policies = "set"`; or write `copies = 1` to test queues without mirrors',
    )
