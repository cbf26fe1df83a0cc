"""Whether a fault that a user's command did holds: by another command of his, and from outside.

1. Neither is enough: a command may be wrong, and a broker may be silent for other reasons.
2. Without a verify command nobody can say that a fault held; that it is gone, the broker tells.
"""

from faults.model import Proof, Reply, Told
from faults.replies import SILENCE_S, doubt, proven, silent

BLIND = "there is no verify command: nobody can say whether it held"


def may_begin(told: Told | None, greeting: Reply) -> Proof:
    """Before the fault: what would prove it must not be there already."""
    if told is not None and told.in_force:
        return doubt(f"before the fault, {told.detail}: it cannot tell the fault from health")
    if not greeting.answered:
        return doubt(f"before the fault, the broker does not answer: {greeting.detail}")
    return proven(f"the broker answers: {greeting.detail}")


def kill_held(told: Told | None, greeting: Reply) -> Proof:
    """Of a stop, too: what became of the connections that stood is not seen from here."""
    command = _in_force(told)
    if command.ok and greeting.answered:
        return doubt(f"{command.detail}, but the broker answers")
    return proven(f"{command.detail}; outside: {greeting.detail}") if command.ok else command


def freeze_held(told: Told | None, greeting: Reply) -> Proof:
    command = _in_force(told)
    if command.ok and not silent(greeting):
        return doubt(f"{command.detail}, but its port is not silent: {greeting.detail}")
    return proven(f"{command.detail}; silent for {SILENCE_S:g} s") if command.ok else command


def gone(told: Told | None, answer: Reply) -> Proof:
    """`answer`: to a greeting, or to whether it serves."""
    if told is not None and told.in_force:
        return doubt(f"{told.detail}: still in force")
    if not answer.answered:
        return doubt(f"outside: {answer.detail}")
    return proven(f"{told.detail if told is not None else BLIND}; outside: {answer.detail}")


def _in_force(told: Told | None) -> Proof:
    if told is None:
        return doubt(BLIND)
    return proven(told.detail) if told.in_force else doubt(f"{told.detail}: not in force")
