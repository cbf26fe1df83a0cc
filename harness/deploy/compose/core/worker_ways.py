"""PURE: how a worker is begun: with names of its own for brokers, and with the right to real time.

1. Where clients dial what name servers show, a name and a port, a listener for each
   worker and server takes an address of the proxy's for each worker. The proxy has all of them
   from its start (peer_ways.py says how).
2. All workers run in one container. Which address a broker's name means to one of them stands in
   a table of names that is read for its process alone: nss_wrapper answers what a client asks
   libc, before anybody else is asked. That takes no right, where a mount of its own took one.
3. A container gives rights to root alone. So root begins a worker, which at once is its
   caller's user, and keeps the one right that it needs (workers/priority.py). Where the caller is
   root, it keeps what its container has.
"""

from collections.abc import Iterable

from harness.plan.layouts.worker_addresses import ADDRESSES

# Of the clients' half of the network, above and below who has a place there.
_LAST_PARTS = (*range(210, 250), *range(130, 200))
assert len(_LAST_PARTS) == ADDRESSES, "the plan counts with it"

_KEPT = "-all,+sys_nice"

# $1: the table's lines; the rest: the worker's own command.
_BY_NAMES = """
set -e
table=$(mktemp)
printf '%s\\n' "$1" >"$table"
cat /etc/hosts >>"$table"
shift
export LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_HOSTS="$table"
exec "$@"
"""


def begun_by_root(user: str, own: list[str]) -> list[str]:
    """A worker's own command, once it is `user` (`uid:gid`, numbers)."""
    uid, gid = user.split(":")
    becomes = [f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    return ["setpriv", *becomes, f"--inh-caps={_KEPT}", f"--ambient-caps={_KEPT}", "--", *own]


def addresses(network: str) -> tuple[str, ...]:
    """The proxy's, one for each worker of a run."""
    return tuple(f"{network}.{last}" for last in _LAST_PARTS)


def command(names: Iterable[str], address: str | None, own: list[str]) -> list[str]:
    """A worker's own command, where these names mean that address to it alone; None: as it is."""
    if address is None:
        return own
    lines = "\n".join(f"{address} {name}" for name in names)
    return ["sh", "-c", _BY_NAMES, "names", lines, *own]
