"""PURE: shell commands that lose or delay what a host sends, by netem, show it, and remove it.

1. netem is a queueing discipline of Linux (module sch_netem). Ours is the root of each interface
   that is up, except the loopback. It meets each packet that leaves, to peers and to clients. It
   does not meet what arrives.
2. Ours is known by its handle: no other root is ever removed or replaced. If a host has one
   already, `tc` refuses ours, and the host is not impaired.
3. Each command may be repeated: impairing again makes ours again, clearing nothing is no error.
4. A command fails if `tc` fails: what could not be seen is never taken for cleared.
5. Source: tc-netem(8). Its `limit` is the number of packets that it may hold; by default 1,000,
   more are dropped. Losses have no correlation here: the page calls it deprecated, and the share
   to expect would be unknown. A packet is what the kernel hands to an interface: with segmentation
   offload up to 64 KB of a stream.
6. A jitter is taken to be uniform, as netem draws it without a table (sch_netem.c, tabledist; the
   page says otherwise). With another one no delay is verified: answers would come too soon.
"""

import json
from typing import Any

from faults.core.actions import Impair
from faults.core.mechanisms import NETEM_MODULE
from faults.core.model import FaultError, Impairment

HANDLE = "4d51:"  # hexadecimal: MQ
LIMIT = 100_000  # packets: more than any delay of ours holds
ADVICE = f"run `modprobe {NETEM_MODULE}` on the Docker host"
_EACH = r"sed -n 's/^[0-9]*: \([^:@]*\).*/\1/p'"
_OURS = f'*"qdisc netem {HANDLE} root"*'
_LOOPBACK = '[ "$dev" = lo ] && continue'


def impair(action: Impair) -> str:
    """Makes our queueing discipline on every interface that is up."""
    lines = [
        "set -e",
        "links=$(ip -o link show up)",
        f'for dev in $(echo "$links" | {_EACH}); do',
        _LOOPBACK,
        'found=$(tc qdisc show dev "$dev")',
        f'case "$found" in {_OURS}) tc qdisc del dev "$dev" root ;; esac',
        f'tc qdisc add dev "$dev" root handle {HANDLE} netem limit {LIMIT} {_effect(action)}'
        f" || {{ echo 'if the kind of qdisc is unknown: {ADVICE}' >&2; exit 1; }}",
        "made=1; done",
        '[ -n "$made" ] || { echo "no interface but the loopback is up" >&2; exit 1; }',
    ]
    return "\n".join(lines)


def clear() -> str:
    """Removes ours from every interface, and prints the name of each that had it."""
    lines = [
        "set -e",
        "links=$(ip -o link show)",
        f'for dev in $(echo "$links" | {_EACH}); do',
        'found=$(tc qdisc show dev "$dev")',
        f'case "$found" in {_OURS}) tc qdisc del dev "$dev" root; echo "$dev" ;; esac',
        "seen=1; done",
        '[ -n "$seen" ] || { echo "no interface is listed" >&2; exit 1; }',
    ]
    return "\n".join(lines)


def show() -> str:
    """Prints every queueing discipline with its counters, as JSON."""
    return "tc -j -s qdisc show"


def impairments(listing: str) -> dict[str, Impairment]:
    """Return ours of what `show` printed, by interface. Raise FaultError if it is no listing."""
    try:
        found = json.loads(listing)
        ours = [one for one in found if one["kind"] == "netem" and one["handle"] == HANDLE]
        return {str(one["dev"]): _impairment(one) for one in ours if one.get("root")}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FaultError(f"tc said {listing.strip()[:200]!r}: {error!r}") from error


def _impairment(one: dict[str, Any]) -> Impairment:
    loss, delay = (one["options"].get(key, {}) for key in ("loss-random", "delay"))
    return Impairment(
        loss=float(loss.get("loss", 0)),
        delay_s=float(delay.get("delay", 0)),
        jitter_s=float(delay.get("jitter", 0)),
        correlation=float(delay.get("correlation", 0)),
        dropped=int(one["drops"]),
    )


def _effect(action: Impair) -> str:
    """Return the words of netem's command line. Only numbers reach the shell."""
    words = []
    if action.loss:
        words.append(f"loss {action.loss:d}%")
    if action.delay_ms:
        words.append(f"delay {action.delay_ms:d}ms")
        if action.jitter_ms:
            words.append(f"{action.jitter_ms:d}ms")
            words += [f"{action.correlation:d}%"] if action.correlation else []
    assert words, "an impairment without effect"
    return " ".join(words)
