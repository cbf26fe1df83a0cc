"""PURE: what versions of the Java client differ in when a server hangs (docs/behaviour/rocketmq.md
9.1 to 9.3)."""

from dataclasses import dataclass
from enum import Enum


class Next(Enum):
    """Which name server is dialled when there is no connection to the one that was asked."""

    ALL_IN_ONE_CALL = "the following ones, one after the other, in the same call"
    ONE_A_CALL = "the following one; the next call tries the one after it"
    THE_SAME_FIRST = "the same one, then the following ones"


@dataclass(frozen=True, slots=True)
class Likeness:
    """`closes`: a connection whose answer to a call that waits is overdue."""

    version: str
    closes: bool
    next: Next


LIKENESSES = {
    one.version: one
    for one in (
        Likeness("4.9.0", closes=False, next=Next.ALL_IN_ONE_CALL),
        Likeness("4.9.8", closes=True, next=Next.ALL_IN_ONE_CALL),
        # Its scanner opens a connection to every name server every 3 s, and the choice is never
        # cleared: what still accepts is asked again.
        Likeness("5.2.0", closes=True, next=Next.THE_SAME_FIRST),
        Likeness("5.3.3", closes=True, next=Next.ONE_A_CALL),
    )
}
