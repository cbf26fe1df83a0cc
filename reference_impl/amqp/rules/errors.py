"""Errors of the protocol (docs/behaviour/rabbitmq.md 2.2): their codes, names and texts.

1. A soft error closes the channel, a hard one the connection; the code decides which.
2. The text that a client sees is "NAME - explanation", at most 255 octets.
3. Wordings are RabbitMQ's: tests and people search for them.
"""

from reference_impl.amqp.codec.wire import SHORT_STRING_MAX

NO_ROUTE = 312
ACCESS_REFUSED, NOT_FOUND, RESOURCE_LOCKED, PRECONDITION_FAILED = 403, 404, 405, 406
CONNECTION_FORCED = 320
FRAME_ERROR, SYNTAX_ERROR, COMMAND_INVALID, CHANNEL_ERROR, UNEXPECTED_FRAME = range(501, 506)
NOT_ALLOWED, NOT_IMPLEMENTED = 530, 540

_SOFT = {
    311: "CONTENT_TOO_LARGE",
    312: "NO_ROUTE",
    313: "NO_CONSUMERS",
    403: "ACCESS_REFUSED",
    404: "NOT_FOUND",
    405: "RESOURCE_LOCKED",
    406: "PRECONDITION_FAILED",
}
_HARD = {
    320: "CONNECTION_FORCED",
    402: "INVALID_PATH",
    501: "FRAME_ERROR",
    502: "SYNTAX_ERROR",
    503: "COMMAND_INVALID",
    504: "CHANNEL_ERROR",
    505: "UNEXPECTED_FRAME",
    506: "RESOURCE_ERROR",
    530: "NOT_ALLOWED",
    540: "NOT_IMPLEMENTED",
    541: "INTERNAL_ERROR",
}
_NAMES = _SOFT | _HARD


class AmqpError(Exception):
    """An error of a client. `index` is the method's class and number, once known."""

    def __init__(self, code: int, explanation: str, index: tuple[int, int] = (0, 0)) -> None:
        assert code in _NAMES, code
        super().__init__(code, explanation)
        self.code = code
        self.explanation = explanation
        self.index = index

    @property
    def hard(self) -> bool:
        return self.code in _HARD

    @property
    def text(self) -> str:
        return _fitting(f"{_NAMES[self.code]} - {self.explanation}")


def _fitting(text: str) -> str:
    octets = text.encode(errors="replace")
    if len(octets) <= SHORT_STRING_MAX:
        return text
    return octets[: SHORT_STRING_MAX - 3].decode(errors="ignore") + "..."


# --- texts that more than one place needs -----------------------------------------------------


def queue_called(name: str) -> str:
    return f"queue '{name}' in vhost '/'"


def exchange_called(name: str) -> str:
    return f"exchange '{name}' in vhost '/'"


def no_queue(name: str) -> AmqpError:
    return AmqpError(NOT_FOUND, f"no {queue_called(name)}")


def no_exchange(name: str) -> AmqpError:
    return AmqpError(NOT_FOUND, f"no {exchange_called(name)}")


def home_is_down(name: str, home: str) -> AmqpError:
    """Item 1: an unmirrored durable queue whose node is gone."""
    text = f"home node 'rabbit@{home}' of durable {queue_called(name)} is down or inaccessible"
    return AmqpError(NOT_FOUND, text)


def no_master(name: str) -> AmqpError:
    """Item 43: no replica took over while we waited."""
    text = f"failed to perform operation on {queue_called(name)} due to timeout"
    return AmqpError(NOT_FOUND, text)


def locked(name: str) -> AmqpError:
    """An exclusive queue is another connection's, or an ordinary one was said to be exclusive."""
    text = (
        f"cannot obtain exclusive access to locked {queue_called(name)}. It could be originally "
        "declared on another connection or the exclusive property value does not match that of "
        "the original declaration."
    )
    return AmqpError(RESOURCE_LOCKED, text)


def not_implemented(what: str) -> AmqpError:
    return AmqpError(NOT_IMPLEMENTED, f"{what}: not implemented by the reference")
