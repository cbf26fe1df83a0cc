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

from faults.compile import MARK

_EACH = "for ipt in iptables iptables-legacy; do"
_USABLE = "$ipt -w 5 -S >/dev/null 2>&1 || continue; works=1"
# Even looking makes the old tables in a namespace that has none; the kernel tells without that.
_WANTED = '[ -z "$works" ] || grep -qs filter /proc/net/ip_tables_names || continue'
_LOOK = f"{_EACH} {_WANTED}; {_USABLE}"
_ONE_WORKS = '[ -n "$works" ] || { echo "no flavour of iptables works here" >&2; exit 1; }'


def cut(chain: str, sources: Iterable[str], destinations: Iterable[str]) -> str:
    """Drops what comes from `sources` and what goes to `destinations`: addresses."""
    _check(chain)
    sides = [("-s", address) for address in sources] + [
        ("-d", address) for address in destinations
    ]
    rules = [
        f"$ipt -w 5 -A {chain} {side} {ipaddress.IPv4Address(address)} -j DROP"
        for side, address in sides
    ]
    assert rules, "a cut from nobody"
    lines = [
        f"{_EACH} {_USABLE}; break; done; {_ONE_WORKS}; set -e",
        f"$ipt -w 5 -N {chain} 2>/dev/null || $ipt -w 5 -F {chain}",
        *rules,
        "for hook in INPUT OUTPUT; do",
        f"$ipt -w 5 -C $hook -j {chain} 2>/dev/null || $ipt -w 5 -I $hook 1 -j {chain}; done",
    ]
    return "\n".join(lines)


def join(chain: str) -> str:
    _check(chain)
    return "\n".join([_LOOK, _remove(chain), f"done; {_ONE_WORKS}"])


def count(chain: str) -> str:
    """Prints the chain with its counters; nothing where there is no such chain."""
    _check(chain)
    return f"{_LOOK}; $ipt -w 5 -nvxL {chain} 2>/dev/null && exit 0; done; {_ONE_WORKS}"


def join_all() -> str:
    """Removes every chain of ours and prints its name."""
    find = f"$ipt -w 5 -S | sed -n 's/^-N \\({MARK}[^ ]*\\).*/\\1/p'"
    loop = f'for chain in $({find}); do\n{_remove("$chain")}\necho "$chain"; done'
    return "\n".join([_LOOK, loop, f"done; {_ONE_WORKS}"])


def dropped(listing: str) -> int | None:
    """The packets that `count` printed, summed over the rules; None: it printed no chain."""
    rows = [line.split() for line in listing.splitlines()]
    if not any(row[:1] == ["Chain"] for row in rows):
        return None
    return sum(int(row[0]) for row in rows if len(row) > 2 and row[2] == "DROP")


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
