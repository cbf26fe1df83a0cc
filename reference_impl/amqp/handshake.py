"""From the protocol header to an open connection: what is offered, and what a client may answer
(docs/behaviour/rabbitmq.md 2.1).

1. Pure: each function takes what the client said and raises AmqpError where it cannot be.
2. There is one user, guest with password guest, and one virtual host, "/".
3. A negotiated value above ours, 0 (no limit) where we have one, or a frame below 4096 octets is
   530. The client's heartbeat is taken as it is.
"""

from reference_impl.amqp.codec.frames import FRAME_MIN
from reference_impl.amqp.codec.session_methods import (
    ConnectionOpen,
    ConnectionStart,
    ConnectionStartOk,
    ConnectionTune,
    ConnectionTuneOk,
)
from reference_impl.amqp.codec.wire import FrameError, long_string, read_table
from reference_impl.amqp.rules.errors import (
    ACCESS_REFUSED,
    COMMAND_INVALID,
    NOT_ALLOWED,
    SYNTAX_ERROR,
    AmqpError,
)
from reference_impl.amqp.rules.features import announced
from reference_impl.amqp.settings import Settings

PROTOCOL_HEADER = b"AMQP\x00\x00\x09\x01"
_USER, _PASSWORD = "guest", "guest"
_CHANNEL_MIN = 1


def start(node: str) -> ConnectionStart:
    """Clients choose their ways by product and version: RabbitMQ's are given."""
    properties = {
        "capabilities": dict.fromkeys(announced(), True),
        "cluster_name": f"rabbit@{node}",
        "copyright": "mqproof",
        "information": "The reference implementation of mqproof: it behaves like this version",
        "platform": "Python",
        "product": "RabbitMQ",
        "version": "3.10.8",
    }
    return ConnectionStart(0, 9, properties, b"PLAIN AMQPLAIN", b"en_US")


def capabilities(start_ok: ConnectionStartOk) -> frozenset[str]:
    """Return the capabilities of the client."""
    said = start_ok.client_properties.get("capabilities")
    if not isinstance(said, dict):
        return frozenset()
    return frozenset(name for name, has in said.items() if has is True)


def given_name(start_ok: ConnectionStartOk) -> str:
    name = start_ok.client_properties.get("connection_name")
    return name if isinstance(name, str) else ""


def authenticate(start_ok: ConnectionStartOk) -> str:
    """The user."""
    match start_ok.mechanism:
        case "PLAIN":
            user, password = _plain(start_ok.response)
        case "AMQPLAIN":
            user, password = _amqplain(start_ok.response)
        case other:
            raise AmqpError(COMMAND_INVALID, f"unknown authentication mechanism '{other}'")
    if (user, password) != (_USER, _PASSWORD):
        text = (
            f"Login was refused using authentication mechanism {start_ok.mechanism}. "
            "For details see the broker logfile."
        )
        raise AmqpError(ACCESS_REFUSED, text, start_ok.index)
    return user


def tune(settings: Settings) -> ConnectionTune:
    return ConnectionTune(settings.channel_max, settings.frame_max, settings.heartbeat_s)


def check_tuned(settings: Settings, tune_ok: ConnectionTuneOk) -> None:
    for field, value, least, ours in (
        ("channel_max", tune_ok.channel_max, _CHANNEL_MIN, settings.channel_max),
        ("frame_max", tune_ok.frame_max, FRAME_MIN, settings.frame_max),
    ):
        if value and value < least:
            raise _failed(field, value, f"lower than the minimum allowed value ({least})")
        if not value or value > ours:
            raise _failed(field, value, f"higher than the maximum allowed value ({ours})")


def check_virtual_host(method: ConnectionOpen) -> None:
    if method.virtual_host != "/":
        text = f"vhost {method.virtual_host} not found"
        raise AmqpError(NOT_ALLOWED, text, method.index)


def _failed(field: str, value: int, why: str) -> AmqpError:
    detail = " (no limit)" if not value else ""
    text = f"negotiated {field} = {value}{detail} is {why}"
    return AmqpError(NOT_ALLOWED, text, ConnectionTune.index)


def _plain(response: bytes) -> tuple[str, str]:
    parts = response.split(b"\0")
    if len(parts) != 3:
        raise AmqpError(SYNTAX_ERROR, "a PLAIN response has three parts")
    return parts[1].decode(errors="replace"), parts[2].decode(errors="replace")


def _amqplain(response: bytes) -> tuple[str, str]:
    try:
        fields, _ = read_table(long_string(response), 0)
    except (FrameError, IndexError, UnicodeDecodeError) as error:
        raise AmqpError(SYNTAX_ERROR, "an AMQPLAIN response is a table") from error
    return str(fields.get("LOGIN")), str(fields.get("PASSWORD"))
