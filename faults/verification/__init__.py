"""Asks a Witness until the rules of `verify` are satisfied, or a limit has passed.

1. Nothing here ends a fault, and nothing here is called by the load.
2. Each kind has a Look; a Look belongs to one window, and may remember what it has seen.

A run calls, for each window: `witness.prepare` (before the actions), `held`, (the undo), `gone`,
`witness.dismiss`.

`asking`     deadlines, and asking again
`processes`  kill, stop, freeze
`links`      hang, close, refuse, reset, slow, cut_after
`network`    partition
`peers`      slow_peers
`isolation`  black_hole, reboot
`flapping`   flap
`brokers`    alarm
`clients`    client_crash, client_freeze
`commands`   kill, stop, freeze, where a user's own commands do them
"""

from collections.abc import Callable

from faults.kinds import COMMAND
from faults.model import Armed, Proof, Witness
from faults.verification.asking import HELD_LIMIT_S, STOPPED_LIMIT_S, Look, until_proven
from faults.verification.brokers import AlarmLook
from faults.verification.clients import ClientCrashLook, ClientFreezeLook
from faults.verification.commands import CommandedFreezeLook, CommandedKillLook
from faults.verification.flapping import FlapLook
from faults.verification.isolation import BlackHoleLook, RebootLook
from faults.verification.links import CutAfterLook, EndedLook, HangLook, SlowLook
from faults.verification.network import PartitionLook
from faults.verification.peers import SlowPeersLook
from faults.verification.processes import FreezeLook, KillLook, StopLook

LOOKS: dict[str, Callable[[Armed, Witness], Look]] = {
    "kill": KillLook,
    "stop": StopLook,
    "freeze": FreezeLook,
    "hang": HangLook,
    "close": EndedLook,
    "refuse": EndedLook,
    "reset": EndedLook,
    "slow": SlowLook,
    "cut_after": CutAfterLook,
    "partition": PartitionLook,
    "black_hole": BlackHoleLook,
    "reboot": RebootLook,
    "flap": FlapLook,
    "slow_peers": SlowPeersLook,
    "alarm": AlarmLook,
    "client_crash": ClientCrashLook,
    "client_freeze": ClientFreezeLook,
}
BY_COMMAND: dict[str, Callable[[Armed, Witness], Look]] = {
    "kill": CommandedKillLook,
    "stop": CommandedKillLook,
    "freeze": CommandedFreezeLook,
}


async def held(armed: Armed, witness: Witness, limit_s: float | None = None) -> Proof:
    """Whether the fault takes effect now. Its canaries were opened by `witness.prepare`."""
    look = _look(armed, witness)
    return await until_proven(look.held, held_limit_s(armed) if limit_s is None else limit_s)


def held_limit_s(armed: Armed) -> float:
    """How long a fault that was armed may take until it is seen to hold."""
    if armed.rhythm is not None:
        return HELD_LIMIT_S + 2 * sum(armed.rhythm)  # cut, joined and cut again
    return STOPPED_LIMIT_S if armed.kind == "stop" else HELD_LIMIT_S


async def gone(armed: Armed, witness: Witness, limit_s: float) -> Proof:
    """Whether the fault has ended, waiting for it at most so long (plus one look)."""
    if not armed.returns:
        return Proof(ok=True, detail="by the scenario, it never ends")
    return await until_proven(_look(armed, witness).gone, limit_s)


def _look(armed: Armed, witness: Witness) -> Look:
    looks = BY_COMMAND if armed.mechanism == COMMAND else LOOKS
    return looks[armed.kind](armed, witness)
