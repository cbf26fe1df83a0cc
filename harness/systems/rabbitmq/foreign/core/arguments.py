"""PURE: the arguments that a topology file may give its queues, and why not others.

1. Only arguments are taken that change no promise that claims judge. If a broker drops or expires
   messages, claims about loss would rightly fail.
2. An unknown argument is refused: what it changes is unknown.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from harness.outside.text import brief

ALLOWED = (
    *("x-queue-mode", "x-queue-version", "x-queue-master-locator", "x-queue-leader-locator"),
    *("x-max-in-memory-length", "x-max-in-memory-bytes"),
)
_DROPS = "the broker would drop messages that it confirmed, so claims about loss would be wrong"
_BY_SYSTEM = (
    "the file's `system` says it: rabbitmq-mirrored has classic queues, rabbitmq-quorum has "
    "quorum queues, rabbitmq-stream has streams"
)
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("x-message-ttl", "x-expires", "x-max-length", "x-max-length-bytes", "x-overflow"),
            "x-max-age",
        ),
        _DROPS,
    ),
    **dict.fromkeys(
        (
            "x-dead-letter-exchange",
            "x-dead-letter-routing-key",
            "x-dead-letter-strategy",
            "x-delivery-limit",
        ),
        "the broker would move messages out of the queue, where no consumer of mqproof reads them",
    ),
    "x-max-priority": "priorities change the order of deliveries, which claims about order judge",
    "x-single-active-consumer": "all but one consumer would wait, which claims take for an outage",
    "x-quorum-initial-group-size": "`members` says it",
    "x-initial-cluster-size": "a stream of mqproof has a replica on every node",
    "x-queue-type": _BY_SYSTEM,
}


def _arguments(value: object) -> dict[str, str | int]:
    if not isinstance(value, dict):
        raise ValueError('must be a table of arguments: { "x-queue-mode" = "lazy" }')
    wrong = [problem for name, one in value.items() if (problem := _problem(str(name), one))]
    if wrong:
        raise ValueError("; ".join(wrong))
    return dict(value)


def _problem(name: str, value: object) -> str:
    if name in REFUSED:
        return f"{name}: {REFUSED[name]}"
    if name not in ALLOWED:
        return f"{brief(name)}: what it changes is unknown here; known: {', '.join(ALLOWED)}"
    if isinstance(value, bool) or not isinstance(value, str | int):
        return f"{name}: must be a text or a whole number, not {brief(value)}"
    return ""


Arguments = Annotated[dict[str, str | int], BeforeValidator(_arguments)]
