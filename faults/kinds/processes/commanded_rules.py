"""Verify a fault that a user's command did: by another command of his, and from outside.

1. Neither is enough: a command may be wrong, and a broker may be silent for other reasons.
2. Without a verify command it is unknown whether a fault held; the broker shows its end.
"""

from faults.core.model import Proof, Reply, VerifyResult
from faults.core.replies import SILENCE_S, doubt, passed, proven, silent

BLIND = "there is no verify command: it is unknown whether it held"


def may_begin(result: VerifyResult | None, greeting: Reply) -> Proof:
    """Before the fault: what would prove it must not be there already."""
    if result is not None and result.in_force:
        return doubt(f"before the fault, {result.detail}: it cannot tell the fault from health")
    if not greeting.answered:
        return doubt(f"before the fault, the broker does not answer: {greeting.detail}")
    return proven(f"the broker answers: {greeting.detail}")


def kill_held(result: VerifyResult | None, greeting: Reply) -> Proof:
    """Of a stop, too: what became of the connections that stood is not seen from here."""
    command = in_force(result)
    if command.ok and greeting.answered:
        return doubt(f"{command.detail}, but the broker answers")
    return proven(f"{command.detail}; outside: {greeting.detail}") if command.ok else command


def freeze_held(result: VerifyResult | None, greeting: Reply) -> Proof:
    command = in_force(result)
    if command.ok and not silent(greeting):
        return doubt(f"{command.detail}, but its port is not silent: {greeting.detail}")
    return proven(f"{command.detail}; silent for {SILENCE_S:g} s") if command.ok else command


def kill_gone(result: VerifyResult | None, greeting: Reply) -> Proof:
    """Of a stop, too: what was started again answers."""
    return _gone(result, greeting, greeting.answered)


def freeze_gone(result: VerifyResult | None, greeting: Reply) -> Proof:
    """A refusal will do if the command says that the processes run on: without it, only an answer
    shows that."""
    return _gone(result, greeting, greeting.answered if result is None else passed(greeting))


def _gone(result: VerifyResult | None, greeting: Reply, back: bool) -> Proof:
    if result is not None and result.in_force:
        return doubt(f"{result.detail}: still in force")
    if not back:
        return doubt(f"outside: {greeting.detail}")
    return proven(f"{result.detail if result is not None else BLIND}; outside: {greeting.detail}")


def in_force(result: VerifyResult | None) -> Proof:
    if result is None:
        return doubt(BLIND)
    return proven(result.detail) if result.in_force else doubt(f"{result.detail}: not in force")
