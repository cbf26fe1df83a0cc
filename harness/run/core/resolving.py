"""Late-bound words become hosts: pure answers from what the cluster says of itself.

1. A word is resolved when it is needed, against the roles of that moment, and recorded.
2. What cannot be resolved is NoSuchTarget, never a guess.
3. Of several hosts that fit, the first in age order (mirrors, unless the word has a number) or
   layout order is meant.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from faults.core.kind import Kind
from faults.core.mechanisms import DIRECT
from faults.core.places import host_of, process_of
from harness.cluster.port import Roles
from harness.plan.checks.process_targets import by_process, candidates
from harness.plan.distribution import NAMED_MAX, named
from harness.plan.files.targets import Target, TargetForm
from harness.plan.layouts.layout_values import BALANCER, STANDBY
from harness.plan.layouts.role_words import RoleWords
from harness.plan.layouts.servers import ServerRole, Servers
from harness.plan.workload import BootstrapAddress
from spark_analysis.schema.words import UnverifiedCause

PROCESS = "process"
NAME_SERVER = ServerRole.NAME_SERVER.value  # what such a target is to queues


class NoSuchTarget(Exception):
    """No host or process matches the word now: the word, and why."""

    cause = UnverifiedCause.NEVER_BEGAN


class NoLeader(NoSuchTarget):
    """No host says that it leads the queue."""

    cause = UnverifiedCause.NO_LEADER


def resolve(
    target: Target, roles: Mapping[str, Roles], hosts: Sequence[str], involved: Sequence[str] = ()
) -> str:
    """The host that `target` means. `roles` by the scenario's queue names."""
    if target.form is TargetForm.MASTER:
        master = _roles(target, roles).master
        if master is None:
            raise NoLeader(f"{target}: no host says that it is the {target.role}")
        return master
    if target.form is TargetForm.MIRROR:
        mirrors = _roles(target, roles).mirrors
        if len(mirrors) < target.rank:
            found = f"{len(mirrors) or 'no'} {target.role}{'s' if len(mirrors) > 1 else ''}"
            raise NoSuchTarget(f"{target}: the queue has {found}")
        return mirrors[target.rank - 1]
    if target.form is TargetForm.UNINVOLVED:
        free = [host for host in hosts if host not in involved]
        if not free:
            raise NoSuchTarget(f"{target}: no host is uninvolved")
        return free[0]
    if target.word in hosts:
        return target.word
    raise NoSuchTarget(f"{target}: no such host; there are {', '.join(hosts)}")


def resolve_processes(
    target: Target, kind: Kind, servers: Servers, attached: str, peer_links: str = DIRECT
) -> tuple[tuple[str, ...], str]:
    """Return the places that a word for processes means, and their role.

    `attached`: the host whose name server the word's client uses now, or the place of the leading
    controller; "" if unknown. `peer_links`: the layout's. Raise NoSuchTarget.
    """
    meant = candidates(target, servers)
    if target.form is TargetForm.NAME_SERVER:
        if not attached:
            raise NoSuchTarget(
                f"{target.word}: {target.client} has not reported which name server it uses"
            )
        meant = tuple(one for one in meant if host_of(one) == attached)
        if not meant:
            raise NoSuchTarget(f"{target.word}: {attached} has no name server")
    if target.form is TargetForm.CONTROLLER:
        if attached not in meant:
            raise NoSuchTarget(f"{target.word}: no controller is known to lead")
        meant = (attached,)
    alone = by_process(kind, peer_links) and not target.whole_host
    places = meant if alone else tuple(map(host_of, meant))
    if target.form is TargetForm.PROCESS:
        return places, PROCESS
    return places, NAME_SERVER if _are_name_servers(meant, servers) else PROCESS


def _are_name_servers(meant: Sequence[str], servers: Servers) -> bool:
    """Controllers may be in name servers, or stand by themselves."""
    return set(meant) <= {one.place for one in servers.name_servers}


def resolve_reference(target: Target, host: str, hosts: Sequence[str]) -> str:
    """The host that `host of fault N` or `other than fault N` means. `host`: the one that fault N
    meant; "" where its window never began. Of several others the first in layout order is meant.

    Raises NoSuchTarget.
    """
    if not host:
        raise NoSuchTarget(f"{target.word}: fault {target.fault} never began")
    if target.form is TargetForm.HOST_OF_FAULT:
        return host
    others = [one for one in hosts if one != host]
    if not others:
        raise NoSuchTarget(f"{target.word}: {host} is the only host")
    return others[0]


def resolve_balancer(
    target: Target, balancers: Sequence[str], entered: Sequence[str]
) -> tuple[str, str]:
    """The balancer that is meant, and its role. `entered`: those that have the address."""
    if len(entered) != 1:
        held = " and ".join(entered) or "no balancer"
        raise NoSuchTarget(f"{target}: {held} has the address of clients")
    (active,) = entered
    if target.word in balancers:
        return target.word, BALANCER if target.word == active else STANDBY
    if target.form is TargetForm.ACTIVE_BALANCER:
        return active, BALANCER
    spare = [name for name in balancers if name != active]
    if not spare:
        raise NoSuchTarget(f"{target}: {active} is the only one")
    return spare[0], STANDBY


def resolve_clients(target: Target, clients: str, roles: Mapping[str, str]) -> tuple[str, ...]:
    """The clients that a fault of clients means. `clients`: `all` or a role; `roles`: by client.

    Raises NoSuchTarget.
    """
    if target.client:
        if target.client not in roles:
            raise NoSuchTarget(f"{target}: no such client; there are {', '.join(roles)}")
        return (target.client,)
    assert target.of_clients, target
    wanted = roles_meant(clients)
    found = tuple(client for client, role in roles.items() if role in wanted)
    if not found:
        raise NoSuchTarget(f"{target}: there are no {clients}")
    return found


def roles_meant(clients: str) -> tuple[str, ...]:
    """The roles that an option `clients` means: all, publishers or consumers."""
    one = {"publishers": ("publisher",), "consumers": ("consumer",)}
    return one.get(clients, ("publisher", "consumer"))


def order_of_entry(
    entry: BootstrapAddress,
    roles: Mapping[str, Roles],
    hosts: Sequence[str],
    involved: Sequence[str],
) -> tuple[str, ...]:
    """The hosts a client tries, its own first; with a list of hosts only those."""
    if entry.hosts:
        return entry.hosts
    assert entry.target is not None, entry
    first = resolve(entry.target, roles, hosts, involved)
    start = hosts.index(first)
    return (*hosts[start:], *hosts[:start])


def holders(roles: Mapping[str, Roles]) -> tuple[str, ...]:
    """The hosts that hold any queue, as master or mirror."""
    held = [host for role in roles.values() for host in (role.master, *role.mirrors)]
    return tuple(host for host in held if host is not None)


def role_of(host: str, roles: Mapping[str, Roles]) -> str:
    """What a host is to the queues: `master`, `mirror` or `none`, the weightiest that fits."""
    if any(role.master == host for role in roles.values()):
        return "master"
    if any(host in role.mirrors for role in roles.values()):
        return "mirror"
    return "none"


def role_of_places(places: Sequence[str], roles: Mapping[str, Roles], servers: Servers) -> str:
    """What was struck is to the queues, the weightiest that fits: a process counts for itself
    alone, a host for all that it carries."""
    found = {_role_at(each, roles, servers) for each in places}
    return next((role for role in ("master", "mirror", NAME_SERVER) if role in found), "none")


def _role_at(places: str, roles: Mapping[str, Roles], servers: Servers) -> str:
    name, process = host_of(places), process_of(places)
    carried = [one for one in servers.processes if one.host == name]
    ends = {one.role for one in carried if process in ("", one.word)}
    if ServerRole.BROKER in ends or not ends:
        return role_of(name, roles)
    return NAME_SERVER if ServerRole.NAME_SERVER in ends else "none"


def promoted_rank(before: Roles, after: Roles) -> int | None:
    """The age, among the old mirrors, of the one that became master; 1 is the oldest.

    None where the master stayed, is unknown, or is no mirror of before.
    """
    if after.master == before.master or after.master not in before.mirrors:
        return None
    return before.mirrors.index(after.master) + 1


def describe(host: str, roles: Mapping[str, Roles], words: RoleWords) -> str:
    """Return the host's role at one moment: `master of orders (2 mirrors, 2 synchronised)`.

    Many queues are counted: `master of 67 queues; synchronised mirror of 133 queues`.
    """
    if len(roles) > NAMED_MAX:
        return _described_by_count(host, roles, words)
    parts = []
    for queue, role in roles.items():
        if role.master == host:
            parts.append(f"{words.serving} of {queue} ({_copies(role, words)})")
        elif host in role.mirrors:
            parts.append(f"{_state(host, role)}{words.copying} of {queue}")
    return "; ".join(parts) or "holds no queue"


def _described_by_count(host: str, roles: Mapping[str, Roles], words: RoleWords) -> str:
    masters = sum(role.master == host for role in roles.values())
    mirrors = Counter(_state(host, role) for role in roles.values() if host in role.mirrors)
    counts = {words.serving: masters} if masters else {}
    counts |= {f"{state}{words.copying}": mirrors[state] for state in sorted(mirrors)}
    parts = [f"{role} of {n} queue{'' if n == 1 else 's'}" for role, n in counts.items()]
    return "; ".join(parts) or "holds no queue"


def _copies(role: Roles, words: RoleWords) -> str:
    """Return `2 mirrors, 2 synchronised`; `no mirror`."""
    if not role.mirrors:
        return f"no {words.copying}"
    known = role.synchronised_known
    many = "" if len(role.mirrors) == 1 else "s"
    copies = f"{len(role.mirrors)} {words.copying}{many}"
    if known is None:
        least = f"at least {role.synchronised_min} of {copies} synchronised"
        return f"{least}; the brokers do not report which"
    return f"{copies}, {known} synchronised"


def _state(host: str, role: Roles) -> str:
    """Return whether this mirror is synchronised; "" if no broker reports it."""
    if role.synchronised is None:
        return ""
    return "synchronised " if host in role.synchronised else "unsynchronised "


def _roles(target: Target, roles: Mapping[str, Roles]) -> Roles:
    if target.queue not in roles:
        raise NoSuchTarget(f"{target}: no such queue; there are {named(tuple(roles))}")
    return roles[target.queue]
