"""Arguments of queues and exchanges: which the reference knows, and when two sets are equal.

1. An argument that would change what a queue does, and is not implemented, is 406: never passed
   over. One that RabbitMQ does not know either is kept and means nothing.
2. Only arguments that RabbitMQ compares are compared (docs/behaviour/rabbitmq.md 2.2).
"""

from typing import Any

from reference_impl.amqp.rules.errors import (
    PRECONDITION_FAILED,
    AmqpError,
    exchange_called,
    queue_called,
)
from reference_impl.metadata.tables import Queue

_LENGTHS = ("x-max-length", "x-max-length-bytes")
_LIVES = "x-message-ttl"
_HIGHEST, _HIGHEST_MAX = "x-max-priority", 255
_OVERFLOW, _OVERFLOWS = "x-overflow", ("drop-head", "reject-publish", "reject-publish-dlx")
_LETTERS = ("x-dead-letter-exchange", "x-dead-letter-routing-key")
_SINGLE_ACTIVE = "x-single-active-consumer"
_ONLY: dict[str, Any] = {
    "x-queue-type": "classic",
    "x-queue-mode": "default",
    "x-queue-version": 1,
}
_EXPIRES = "x-expires"
_COMPARED = (*_ONLY, *_LENGTHS, _LIVES, _HIGHEST, *_LETTERS, _OVERFLOW, _SINGLE_ACTIVE, _EXPIRES)
ALTERNATE = "alternate-exchange"
_EXPIRES_MAX_MS = 4_294_967_295
_INT_MIN, _INT_MAX = -(1 << 31), (1 << 31) - 1


def check_queue_arguments(name: str, arguments: dict[str, Any]) -> None:
    """Raises 406."""
    for argument, known in _ONLY.items():
        if arguments.get(argument, known) != known:
            reason = f"{arguments[argument]!r} is not implemented by the reference"
            raise _invalid(argument, name, reason)
    _check_expires(name, arguments)
    _check_limits(name, arguments)


def check_exchange_arguments(name: str, arguments: dict[str, Any]) -> None:
    """Raises 406."""
    other = arguments.get(ALTERNATE, "")
    if not isinstance(other, str):
        kind = type(other).__name__
        text = f"invalid type '{kind}' for arg '{ALTERNATE}' in {exchange_called(name)}"
        raise AmqpError(PRECONDITION_FAILED, text)


def check_equal(
    record: Queue, durable: bool, auto_delete: bool, arguments: dict[str, Any]
) -> None:
    """Raises 406 where a declaration differs from the queue that is there."""
    for what, now, received in (
        ("durable", record.durable, durable),
        ("auto_delete", record.auto_delete, auto_delete),
    ):
        if now != received:
            raise _inequivalent(what, record.name, _said(received), _said(now))
    for what in _COMPARED:
        theirs, ours = arguments.get(what), record.arguments.get(what)
        if theirs != ours:
            raise _inequivalent(what, record.name, _typed(theirs), _typed(ours))


def _check_expires(name: str, arguments: dict[str, Any]) -> None:
    if _EXPIRES not in arguments:
        return
    expires_ms = arguments[_EXPIRES]
    if isinstance(expires_ms, bool) or not isinstance(expires_ms, int):
        raise _invalid(_EXPIRES, name, "it is no whole number")
    if not 0 < expires_ms <= _EXPIRES_MAX_MS:
        raise _invalid(_EXPIRES, name, f"{expires_ms} is out of range")


def _check_limits(name: str, arguments: dict[str, Any]) -> None:
    for argument in (*_LENGTHS, _LIVES, _HIGHEST):
        most = arguments.get(argument, 0)
        if isinstance(most, bool) or not isinstance(most, int):
            raise _invalid(argument, name, "it is no whole number")
        if most < 0:
            raise _invalid(argument, name, f"{most} is below 0")
        if most > {_LIVES: _EXPIRES_MAX_MS, _HIGHEST: _HIGHEST_MAX}.get(argument, most):
            raise _invalid(argument, name, f"{most} is out of range")
    overflow = arguments.get(_OVERFLOW, _OVERFLOWS[0])
    if overflow not in _OVERFLOWS:
        raise _invalid(_OVERFLOW, name, f"{overflow!r} is none of {', '.join(_OVERFLOWS)}")
    if not isinstance(arguments.get(_SINGLE_ACTIVE, False), bool):
        raise _invalid(_SINGLE_ACTIVE, name, "it is neither true nor false")
    for argument in _LETTERS:
        if not isinstance(arguments.get(argument, ""), str):
            raise _invalid(argument, name, "it is no text")
    exchange, key = _LETTERS
    if key in arguments and exchange not in arguments:
        raise _invalid(key, name, f"there is no {exchange}")


def _invalid(argument: str, name: str, reason: str) -> AmqpError:
    text = f"invalid arg '{argument}' for {queue_called(name)}: {reason}"
    return AmqpError(PRECONDITION_FAILED, text)


def _inequivalent(what: str, name: str, received: str, now: str) -> AmqpError:
    text = (
        f"inequivalent arg '{what}' for {queue_called(name)}: "
        f"received {received} but current is {now}"
    )
    return AmqpError(PRECONDITION_FAILED, text)


def _said(value: bool) -> str:
    return f"'{str(value).lower()}'"


def _typed(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return f"the value '{str(value).lower()}' of type 'bool'"
        case int() if _INT_MIN <= value <= _INT_MAX:
            return f"the value '{value}' of type 'signedint'"
        case int():
            return f"the value '{value}' of type 'long'"
        case _:
            return f"the value '{value}' of type 'longstr'"
