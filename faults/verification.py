"""Asks a Witness until the rules of a fault's kind are satisfied, or a limit has passed.

1. Nothing here ends a fault, and nothing here is called by the load.
2. Only positive evidence proves. What was not seen, or has another explanation, is a doubt.
3. Silence is not closure: what is silent was waited for in vain (replies.py); a refusal, a reset
   or a close comes at once, and is evidence of another fault.

A run calls, for each window: `prepare` (before the actions), `held`, `lasted`, (the undo), `gone`,
`witness.dismiss`.
"""

import asyncio

from faults.core.actions import Cut, Isolate
from faults.core.kind import HELD_LIMIT_S, ArmedFault, Kind, Verifier
from faults.core.mechanisms import COMMAND
from faults.core.model import Armed, FaultError, Proof, Receipt
from faults.core.replies import proven
from faults.core.witness import Witness
from faults.kinds.processes import commanded_rules, rules
from faults.polling import until_proven

SILENT_LOOK_S = 3.5  # the wait that proves silence, and what is asked around it
LOOK_S = 1.0


async def prepare(armed: ArmedFault, witness: Witness) -> None:
    """Opens what the fault is to be seen by. Raises FaultError where it could not be seen."""
    await witness.prepare(armed)
    try:
        await _verifier(armed, witness).ready()
    except FaultError:
        await witness.dismiss(armed)
        raise


async def held(armed: ArmedFault, witness: Witness, limit_s: float | None = None) -> Proof:
    """Return whether the fault takes effect now; `prepare` came before."""
    verifier = _verifier(armed, witness)
    return await until_proven(verifier.held, held_limit_s(armed) if limit_s is None else limit_s)


async def lasted(armed: ArmedFault, witness: Witness) -> Proof:
    """Return whether a fault that was verified active is active still, just before its undo.

    Only where something else may have ended it: a supervisor starts killed processes again, and a
    user's own commands may undo themselves.
    """
    return await until_proven(lambda: _lasted(armed, witness), limit_s=0.0)


async def _lasted(armed: ArmedFault, witness: Witness) -> Proof:
    kind = armed.declared
    if armed.mechanism == COMMAND:
        return await _lasted_commanded(armed, witness)
    if not (kind.strikes_processes or kind.ends_broker):
        return proven("nothing but its undo ends it")
    states = await asyncio.gather(*map(witness.process, armed.places))
    return rules.lasted(dict(zip(armed.places, states, strict=True)), kind.ends_broker)


async def _lasted_commanded(armed: ArmedFault, witness: Witness) -> Proof:
    if armed.rhythm is not None:
        return proven("it comes and goes")
    if armed.declared.waits_for_silence:  # a wait for silence would prolong the fault
        return commanded_rules.in_force(await witness.verify_result(armed))
    return await _verifier(armed, witness).held()


def shortest_s(kind: Kind) -> float:
    """The shortest window in which a fault of this kind is verified while it is active."""
    return SILENT_LOOK_S if kind.waits_for_silence else LOOK_S


def counted(armed: ArmedFault, receipt: Receipt, lasted_s: float) -> Proof:
    """Return whether a fault that was too short for a check took effect: by what its packet filter
    had dropped when it was removed."""
    least_s = shortest_s(armed.declared)
    short = f"it was shorter than a check of {least_s:g} s (it lasted {lasted_s:.3g} s)"
    others, idle = _not_counted(armed), [host for host, count in receipt.dropped if not count]
    doubt = ""
    if not receipt.dropped:
        doubt = f"a {armed.mechanism.replace('_', ' ')} counts no packets"
    elif others:
        doubt = f"packets do not show its {others}"
    elif idle:
        doubt = f"our chain in {', '.join(idle)} dropped nothing"
    if doubt:
        return Proof(False, "", f"{short}, and {doubt}", too_short=True)
    counts = ", ".join(f"{packets} in {host}" for host, packets in receipt.dropped)
    return Proof(True, f"{short}; packets that our chain dropped until it was removed: {counts}")


def _not_counted(armed: Armed) -> str:
    """Return what a fault does beside what a packet filter counts; "" for nothing."""
    others = {type(one) for one in armed.actions} - {Cut, Isolate}
    return " and ".join(sorted(one.__name__.lower() for one in others))


def held_limit_s(armed: ArmedFault) -> float:
    """Return how long a fault that was armed may take until it is verified active."""
    if armed.rhythm is not None:
        return HELD_LIMIT_S + 2 * sum(armed.rhythm)  # cut, joined and cut again
    return armed.declared.held_limit_s


async def gone(armed: ArmedFault, witness: Witness, limit_s: float) -> Proof:
    """Return whether the fault has ended, waiting for it at most so long (plus one look)."""
    if not armed.returns:
        return Proof(ok=True, detail="by the scenario, it never ends")
    return await until_proven(_verifier(armed, witness).gone, limit_s)


def _verifier(armed: ArmedFault, witness: Witness) -> Verifier:
    kind = armed.declared
    if armed.mechanism != COMMAND:
        return kind.verify(armed, witness)
    assert kind.verify_commanded is not None, f"{kind.name} by a command"
    return kind.verify_commanded(armed, witness)
