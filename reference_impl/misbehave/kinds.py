"""Kinds of injected misbehaviour, and the choice of messages (docs/nightly.md, "Check
the instrument").

1. A node has one kind of it, or none; then nothing of this package runs.
2. The messages are drawn from a stream of each process's own, fixed by seed, kind and process.
   stale-guard and truncate draw nothing: the one is a rule that RabbitMQ has, the other what
   disks do that promise too much, and they hit whom their rule hits.
3. Clients see no error and no broken rule of the protocol: only content goes wrong.
"""

from collections.abc import Callable
from enum import StrEnum
from random import Random
from typing import Annotated

import msgspec

from reference_impl.pid import Pid

SHARE = 0.005
HELD_BACK_MS = 200  # what is confirmed early, from mirrors and disk


class Kind(StrEnum):
    DROP = "drop"  # a publish is confirmed, and enqueued nowhere
    DUPLICATE = "duplicate"  # enqueued twice
    REORDER = "reorder"  # the next publish of its channel is enqueued before it
    CORRUPT = "corrupt"  # the last byte of its body is another
    CONFIRM_EARLY = "confirm-early"  # confirmed before it is on disk or at a mirror
    FORGET = "forget"  # unacknowledged when its channel ends, and not requeued
    REDELIVER = "redeliver"  # acknowledged, and handed out again later
    REWIND = "rewind"  # its group had passed it, and a pull gives it out again
    HALF = "half"  # its transaction is undecided, and consumers get it
    TRUNCATE = "truncate"  # confirmed, and gone from its log after a crash
    STALE_GUARD = "stale-guard"  # confirmed in a minority, by what the channel saw before


class Misbehaviour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`truth`: the file to which it writes whom it hits."""

    kind: Kind
    truth: str
    share: Annotated[float, msgspec.Meta(gt=0, le=1)] = SHARE
    seed: int = 0


def chooser(misbehaviour: Misbehaviour, pid: Pid) -> Callable[[], bool]:
    """Return a function that says whether the next candidate of this process is hit."""
    return drawn(misbehaviour, f"{pid.node}/{pid.boot}/{pid.number}")


def drawn(misbehaviour: Misbehaviour, who: str) -> Callable[[], bool]:
    """Return the same for the process of this name."""
    chance = Random(f"{misbehaviour.seed}/{misbehaviour.kind}/{who}")
    return lambda: chance.random() < misbehaviour.share
