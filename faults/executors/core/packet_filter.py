"""PURE: shell commands that cut a host off by a chain of our own, count, and join it again.

1. Each may be repeated: cutting twice leaves one chain, joining what is not cut is no error.
2. Debian's iptables speaks nftables and iptables-legacy the old tables; which of them a kernel
   has is found out in place. Cutting takes the first that works, joining looks under both where
   both are in use.
3. Rules match whole addresses at the head of INPUT and OUTPUT: established
   connections are cut, too, and interface names do not matter.
4. A command fails (status 1) where no flavour works, or where a chain could not be removed.
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from faults.core.compile import MARK

ANYWHERE = "0.0.0.0/0"
_EACH = "for ipt in iptables iptables-legacy; do"
_USABLE = "$ipt -w 5 -S >/dev/null 2>&1 || continue; works=1"
# Even looking makes the old tables in a namespace that has none; the kernel tells without that.
_WANTED = '[ -z "$works" ] || grep -qs filter /proc/net/ip_tables_names || continue'
_LOOK = f"{_EACH} {_WANTED}; {_USABLE}"
_ONE_WORKS = '[ -n "$works" ] || { echo "no flavour of iptables works here" >&2; exit 1; }'


@dataclass(frozen=True, slots=True)
class Dropping:
    """A rule of a chain that drops, as addresses (or ANYWHERE), and how often it did."""

    source: str
    destination: str
    packets: int


def cut(chain: str, sources: Iterable[str], destinations: Iterable[str]) -> str:
    """Drops what comes from `sources` and what goes to `destinations`: addresses."""
    rules = _drop("-s", sources) + _drop("-d", destinations)
    assert rules, "a cut without peers"
    return _put(chain, rules)


def isolate(chain: str, own: Iterable[str]) -> str:
    """Drops everything but what stays inside. `own`: the host's addresses, which tell what it
    sent from what it was sent; a packet to an address of its own never leaves the loopback."""
    own = list(own)
    inside = [f"{side} lo -j RETURN" for side in ("-i", "-o")]
    return _put(chain, [*inside, *_drop("-s", own), *_drop("-d", own), "-j DROP"])


def _drop(side: str, addresses: Iterable[str]) -> list[str]:
    return [f"{side} {ipaddress.IPv4Address(address)} -j DROP" for address in addresses]


def _put(chain: str, rules: list[str]) -> str:
    """A chain of exactly these rules, before all others of its host."""
    _check(chain)
    lines = [
        f"{_EACH} {_USABLE}; break; done; {_ONE_WORKS}; set -e",
        f"$ipt -w 5 -N {chain} 2>/dev/null || $ipt -w 5 -F {chain}",
        *(f"$ipt -w 5 -A {chain} {rule}" for rule in rules),
        "for hook in INPUT OUTPUT; do",
        f"$ipt -w 5 -C $hook -j {chain} 2>/dev/null || $ipt -w 5 -I $hook 1 -j {chain}; done",
    ]
    return "\n".join(lines)


def join(chain: str) -> str:
    """Removes the chain, and prints it with its counters as it was at the end."""
    _check(chain)
    last = f"$ipt -w 5 -nvxL {chain} 2>/dev/null"
    return "\n".join([_LOOK, last, _remove(chain), f"done; {_ONE_WORKS}"])


def count(chain: str) -> str:
    """Prints the chain with its counters; nothing where there is no such chain."""
    _check(chain)
    return f"{_LOOK}; $ipt -w 5 -nvxL {chain} 2>/dev/null && exit 0; done; {_ONE_WORKS}"


def join_all() -> str:
    """Removes every chain of ours and prints its name."""
    find = f"$ipt -w 5 -S | sed -n 's/^-N \\({MARK}[^ ]*\\).*/\\1/p'"
    loop = f'for chain in $({find}); do\n{_remove("$chain")}\necho "$chain"; done'
    return "\n".join([_LOOK, loop, f"done; {_ONE_WORKS}"])


def dropping(listing: str) -> tuple[Dropping, ...] | None:
    """The rules that `count` printed; None: it printed no chain."""
    rows = [line.split() for line in listing.splitlines()]
    if not any(row[:1] == ["Chain"] for row in rows):
        return None
    return tuple(
        Dropping(source=row[7], destination=row[8], packets=int(row[0]))
        for row in rows
        if len(row) > 8 and row[2] == "DROP"
    )


def _remove(chain: str) -> str:
    return "\n".join(
        [
            "for hook in INPUT OUTPUT; do",
            f"while $ipt -w 5 -D $hook -j {chain} 2>/dev/null; do :; done; done",
            f"$ipt -w 5 -F {chain} 2>/dev/null; $ipt -w 5 -X {chain} 2>/dev/null",
            f"if $ipt -w 5 -S {chain} >/dev/null 2>&1; then",
            f'echo "{chain} is still there" >&2; exit 1; fi',
        ]
    )


def _check(chain: str) -> None:
    # It becomes part of a shell command that runs with NET_ADMIN.
    assert chain.startswith(MARK), chain
    assert chain.replace("_", "").isalnum(), chain
