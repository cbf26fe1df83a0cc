"""Transactions of our own producer, as the Java client drives them
(docs/behaviour/rocketmq.md 4.5).

1. A half is sent like any message, with properties that name it one. If its broker answers
   SEND_OK, the producer commits it, rolls it back, or leaves it open, as its fate says. After a
   weaker status it is rolled back, as in Java.
2. No broker answers a decision. If one is lost, the broker asks again.
3. A broker that asks gets the decision by the connection that it asked by. A half whose send was
   not answered with SEND_OK is rolled back.
4. Only the sender knows the fate of a half, and a broker asks any producer of a group: so each
   producer of transactions has a group of its own.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum

from harness.workers.clients.rocketmq.core.answers import STATES
from harness.workers.remoting import client_requests, records
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.requests import Code, Request
from spark_analysis.schema.words import Fate

SEND_OK = 0  # its place in answers.STATUSES
_TAG = "mqproof"


class HalfState(IntEnum):
    """Places in answers.STATES."""

    COMMIT = 0
    ROLLBACK = 1
    OPEN = 2


_AT_ONCE = {Fate.COMMIT: HalfState.COMMIT, Fate.ROLLBACK: HalfState.ROLLBACK}
_COMMITTED = (Fate.COMMIT, Fate.COMMIT_WHEN_CHECKED)
_DECISIONS = {HalfState.COMMIT: 8, HalfState.ROLLBACK: 12, HalfState.OPEN: 0}  # bits of sysFlag


class OwnTransactions:
    """`noticed`: gets what a broker asks, and the answer."""

    def __init__(self, group: str, noticed: Callable[[str, str], None]) -> None:
        self._group = group
        self._noticed = noticed
        self._stored: dict[int, Fate] = {}  # by tag: halves that were answered with SEND_OK

    def properties(self, tag: int) -> dict[str, str]:
        return {
            client_requests.IN_TRANSACTION: "true",
            "PGROUP": self._group,
            "UNIQ_KEY": f"{tag:032X}",
            _TAG: str(tag),
        }

    def decide(self, tag: int, fate: Fate, status: int) -> HalfState:
        """Return what becomes of a half that was answered with this status."""
        if status != SEND_OK:
            return HalfState.ROLLBACK
        self._stored[tag] = fate
        return _AT_ONCE.get(fate, HalfState.OPEN)

    def decision(self, tag: int, state: HalfState, answer: Mapping[str, str]) -> Request | None:
        """`answer`: fields of the answer to the send. None: it does not say where the half is."""
        try:
            position = int(answer["msgId"][-16:], 16)
            offset = answer["queueOffset"]
        except (KeyError, ValueError):
            return None  # the broker will ask
        fields = {
            "tranStateTableOffset": offset,
            "commitLogOffset": str(position),
            "msgId": f"{tag:032X}",
            **({"transactionId": answer["transactionId"]} if "transactionId" in answer else {}),
        }
        return client_requests.end_transaction(self._group, _DECISIONS[state], fields)

    def checked(self, command: Command) -> Request | None:
        """Return the answer to a broker that asks; None if it asked something else."""
        if command.header.code != Code.CHECK_TRANSACTION_STATE:
            return None
        try:
            tag = int(records.read(command.body).properties[_TAG])
        except (WireError, KeyError, ValueError):
            return None  # no half that we sent
        is_committed = self._stored.get(tag, Fate.NONE) in _COMMITTED
        state = HalfState.COMMIT if is_committed else HalfState.ROLLBACK
        self._noticed("asked", f"tag {tag}: {STATES[state]}")
        half = command.header.fields
        kept = ("tranStateTableOffset", "commitLogOffset", "msgId", "transactionId")
        fields = {name: half[name] for name in kept if name in half}
        fields["fromTransactionCheck"] = "true"
        return client_requests.end_transaction(self._group, _DECISIONS[state], fields)
