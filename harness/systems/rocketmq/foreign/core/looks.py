"""PURE: compares what the servers of an external cluster report with its topology file.

1. A contradiction is reported before a run begins, because verdicts would be wrong.
2. What a server does not report is no contradiction.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.plan.layouts.topology import Topology
from harness.plan.layouts.versions import numbers
from harness.systems.rocketmq.core.layout import ASYNC, MASTER_ID, REFERENCE, SYNC, ServerProcess
from harness.systems.rocketmq.foreign.core.own import own
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import RemotingAnswer
from harness.workers.remoting.routes import View
from spark_analysis.schema.views import Shown

# The exception of RocketMQ 4.9 and 5 in its remark, if access control refuses a request.
_DENIED = ("AclException", "AuthenticationException", "AuthorizationException")
_NO_KEYS = (
    "brokers have access control: name the variables of an account in [credentials], access_key "
    "and secret_key"
)
_SLAVE, _IN_SYNC = "SLAVE", "inSyncReplicas"
_MASTERS = {SYNC: "SYNC_MASTER", ASYNC: "ASYNC_MASTER"}
_FLUSH = {SYNC: "SYNC_FLUSH", ASYNC: "ASYNC_FLUSH"}


class Found(NamedTuple):
    """One thing that is wrong, and what to do."""

    text: str
    remedy: str


def denied(answer: Command) -> str:
    """Return why access control refuses a request; "" if it does not."""
    header = answer.header
    if header.code == RemotingAnswer.NO_PERMISSION or is_denial(header.remark):
        return header.remark or f"code {header.code}"
    return ""


def is_denial(remark: str) -> bool:
    """Return whether a remark names an exception of access control."""
    return any(word in remark for word in _DENIED)


def key_remedy(topology: Topology) -> str:
    """Return what to do if brokers refuse a request that any account may make."""
    if not topology.variables:
        return _NO_KEYS
    access, secret = topology.variables
    return (
        f"what ${access} and ${secret} hold must be the keys of an account in the brokers' "
        f"conf/plain_acl.yml, with `admin: true`; its whiteRemoteAddress must allow this machine"
    )


def account_remedy(topology: Topology, right: str) -> str:
    """Return what to do if brokers refuse a request for want of this right."""
    if not topology.variables:
        return _NO_KEYS
    return f"the account of ${topology.user} in the brokers' conf/plain_acl.yml needs {right}"


def brokers_shown(
    topology: Topology, views: Mapping[ServerProcess, View | None]
) -> Iterator[Found]:
    """Yield what name servers that answer show against the file."""
    declared = own(topology)
    brokers = [one for one in declared.servers if one.is_broker]
    for server, view in views.items():
        if view is None:
            continue
        for one in brokers:
            if not any(_is_shown(one, other, declared.elects) for other in view.brokers):
                yield _unregistered(server.host, one, view.brokers, declared.elects)
        for stranger in view.brokers:
            if not any(stranger.address == one.advertised for one in brokers):
                yield Found(
                    f"{server.host} shows {stranger}, which the file does not name",
                    "add a [[broker]] table for it: a topic lies on every group of the cluster",
                )


def _is_shown(one: ServerProcess, shown: Shown, elects: bool) -> bool:
    """The ids of brokers that elect their leader change."""
    has_place = (shown.broker, shown.address) == (one.group, one.advertised)
    return has_place and (elects or shown.id == one.id)


def _unregistered(by: str, one: ServerProcess, shown: Iterable[Shown], elects: bool) -> Found:
    at_address = [each for each in shown if each.address == one.advertised]
    wanted = one.group if elects else Shown(one.group, one.id, one.advertised)
    if at_address:
        return Found(
            f"{by} shows {at_address[0]}, and {one.host} is {wanted} in the file",
            "correct `group` and `id` in the file: brokerName and brokerId of the broker",
        )
    where = f"{wanted} at {one.advertised}" if elects else wanted
    return Found(
        f"{one.host} ({where}) is not registered at {by}",
        f"is it up, and is {by} in its `namesrvAddr`? `address` in the file must be its "
        "brokerIP1 and listenPort",
    )


def configured(
    topology: Topology, server: ServerProcess, settings: Mapping[str, str]
) -> Iterator[Found]:
    """Yield what a broker's configuration says against the file."""
    declared = own(topology).declared
    is_master = server.id == MASTER_ID
    for name, (value, key) in _wanted(topology, server).items():
        found = settings.get(name, "")
        if found and found != value:
            yield Found(
                f"{server.host} has {name} = {found}, and by the file {value}",
                f"correct `{key}` in the file, or the broker's configuration",
            )
    if is_master and declared.replication == SYNC:
        yield from _waiting(topology, server, settings)


def _wanted(topology: Topology, server: ServerProcess) -> dict[str, tuple[str, str]]:
    """Return settings by name: the value, and the key of the file that says it."""
    declared = own(topology).declared
    if own(topology).elects:
        return {
            "enableDLegerCommitLog": ("true", "system"),
            "dLegerSelfId": (f"n{server.id}", "id"),
        }
    if server.id != MASTER_ID:
        return {"brokerRole": (_SLAVE, "id")}
    return {
        "brokerRole": (_MASTERS[declared.replication], "replication"),
        # A slave's flush decides about no confirm.
        "flushDiskType": (_FLUSH[declared.flush], "flush"),
    }


def _waiting(
    topology: Topology, server: ServerProcess, settings: Mapping[str, str]
) -> Iterator[Found]:
    """In RocketMQ 5 a confirm of a SYNC_MASTER waits for as many replicas as `inSyncReplicas`
    says, itself among them."""
    found = settings.get(_IN_SYNC, "")
    declared = own(topology)
    size = sum(one.group == server.group for one in declared.servers)
    version = declared.declared.version
    is_5 = version != REFERENCE and numbers(version) >= (5,)
    if is_5 and found.isdecimal() and int(found) < size:
        yield Found(
            f"{server.host} has {_IN_SYNC} = {found}, so a confirm does not wait for "
            f"every slave of {server.group}, and replication is 'sync' in the file",
            f"set {_IN_SYNC} = {size} on the master, or write replication = 'async'",
        )


def versioned(topology: Topology, server: ServerProcess, version: str) -> Iterator[Found]:
    """Yield whether a broker has another version than the file says."""
    wanted = own(topology).declared.version
    if wanted not in (REFERENCE, version):
        yield Found(
            f"{server.host} has version {version}, and {wanted} in the file",
            "correct `version` in the file",
        )


def settings_of(text: str) -> dict[str, str]:
    """Return a broker's configuration by key."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}
