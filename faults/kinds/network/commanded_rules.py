"""Verify a fault of a host's network that its owner's command did: by another command of his, and
from outside.

1. From outside only clients' ways are seen. That peers do not reach each other is known by the
   owner's verify command alone, which should try such a way.
2. The other hosts must not be silent: what silences them as well is another fault.
"""

from collections.abc import Mapping

from faults.core.model import Proof, Reply, VerifyResult
from faults.core.replies import SILENCE_S, both, doubt, listing, passed, proven, silent
from faults.kinds.processes import commanded_rules as rules


def partition_held(
    result: VerifyResult | None, greeting: Reply, others: Mapping[str, Reply]
) -> Proof:
    """Clients still reach the host. A refusal came through, too: a node that pauses refuses."""
    command = rules.in_force(result)
    if command.ok and silent(greeting):
        return doubt(
            f"{command.detail}, but clients meet silence, too: that is a black_hole, and more is "
            "cut than was meant"
        )
    outside = proven(f"clients reach it: {greeting.detail}; that peers do not, the command says")
    return both(both(command, outside), _others_speak(others))


def black_hole_held(
    result: VerifyResult | None, greeting: Reply, others: Mapping[str, Reply]
) -> Proof:
    command = rules.in_force(result)
    if command.ok and not silent(greeting):
        return doubt(f"{command.detail}, but clients meet no silence: {greeting.detail}")
    outside = proven(f"silent for {SILENCE_S:g} s to clients")
    return both(both(command, outside), _others_speak(others))


def reboot_held(result: VerifyResult | None, greeting: Reply) -> Proof:
    """A host without power ends no connection and refuses none."""
    command = rules.in_force(result)
    if command.ok and passed(greeting):
        return doubt(f"{command.detail}, but its kernel answers: {greeting.detail}")
    return both(command, proven(f"no answer from outside: {greeting.detail}"))


def _others_speak(others: Mapping[str, Reply]) -> Proof:
    mute = sorted(host for host, reply in others.items() if silent(reply))
    if mute:
        return doubt(f"more is cut than was meant: {listing(others, mute)}")
    return proven(f"{len(others)} other hosts are reached")
