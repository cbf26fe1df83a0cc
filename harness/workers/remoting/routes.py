"""The cluster as a name server shows it, and how two views of it differ.

1. A view is what one answer showed: brokers by name, each with its addresses by id (0 is master),
   and, in the view of a topic, its queues and whether they may be read and written.
2. A view says what the name server believes, not what is so.
3. Differences are sentences, one a fact, in the order of broker names and ids.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.workers.remoting import json_text
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.requests import PERM_READ, PERM_WRITE
from spark_analysis.schema.views import Shown, detail_of

MASTER_ID = 0
_RIGHTS = {PERM_READ | PERM_WRITE: "", PERM_READ: ", read only", PERM_WRITE: ", write only"}


@dataclass(frozen=True, slots=True, order=True)
class TopicQueues:
    """What one broker has of the topic."""

    broker: str
    read: int
    write: int
    perm: int  # PERM_READ | PERM_WRITE

    def __str__(self) -> str:
        rights = _RIGHTS.get(self.perm & (PERM_READ | PERM_WRITE), ", neither read nor written")
        return f"{self.broker} {self.read} read and {self.write} write queues{rights}"


@dataclass(frozen=True, slots=True)
class View:
    """What one answer showed; both parts sorted. `queues` is empty in a view of the cluster."""

    brokers: tuple[Shown, ...]
    queues: tuple[TopicQueues, ...] = ()

    @property
    def masters(self) -> dict[str, str]:
        """Broker -> address."""
        return {one.broker: one.address for one in self.brokers if one.id == MASTER_ID}

    def __str__(self) -> str:
        return detail_of((*self.brokers, *self.queues))

    def since(self, before: "View | None") -> tuple[str, ...]:
        """Each difference as a sentence without its subject: the name server."""
        was = NOWHERE if before is None else before
        return (*_moves(was.brokers, self.brokers), *_rights(was.queues, self.queues))


NOWHERE = View(())


def read_route(body: bytes) -> View:
    """Of GET_ROUTEINFO_BY_TOPIC. Raises WireError."""
    document = json_text.read_object(body)
    try:
        shown = [one for broker in document["brokerDatas"] for one in _addresses(broker)]
        queues = [
            TopicQueues(
                one["brokerName"], one["readQueueNums"], one["writeQueueNums"], one["perm"]
            )
            for one in document["queueDatas"]
        ]
        return View(tuple(sorted(shown)), tuple(sorted(queues)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WireError(f"no route: {error!r} in {body[:200]!r}") from error


def read_cluster(body: bytes) -> View:
    """Of GET_BROKER_CLUSTER_INFO. Raises WireError."""
    document = json_text.read_object(body)
    try:
        brokers = document["brokerAddrTable"].values()
        return View(tuple(sorted(one for broker in brokers for one in _addresses(broker))))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WireError(f"no cluster info: {error!r} in {body[:200]!r}") from error


def _addresses(broker: dict[str, Any]) -> Iterator[Shown]:
    for number, address in broker["brokerAddrs"].items():
        yield Shown(broker["brokerName"], int(number), address)


def _moves(before: tuple[Shown, ...], after: tuple[Shown, ...]) -> Iterator[str]:
    was = {(one.broker, one.id): one for one in before}
    now = {(one.broker, one.id): one for one in after}
    for who in sorted(was.keys() | now.keys()):
        old, new = was.get(who), now.get(who)
        if old == new:
            continue
        if new is None:
            yield f"dropped {old}"
        else:
            yield f"shows {new}{f', before at {old.address}' if old else ''}"


def _rights(before: tuple[TopicQueues, ...], after: tuple[TopicQueues, ...]) -> Iterator[str]:
    was = {one.broker: one for one in before}
    now = {one.broker: one for one in after}
    for broker in sorted(was.keys() | now.keys()):
        old, new = was.get(broker), now.get(broker)
        if old != new:
            yield f"shows {new}" if new else f"dropped the queues of {broker}"
