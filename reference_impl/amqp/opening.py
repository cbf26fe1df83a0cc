"""The opening of a connection, step by step (docs/behaviour/rabbitmq.md 2.1); each step's checks
stand in handshake.py.

greeting --protocol header--> starting --start-ok--> tuning --tune-ok--> opening --open--> open

A step out of turn is 503. Before its login, a client gets an error only where
RabbitMQ sends one: 403 if it can hear that, 530 once it has logged in.
"""

from enum import Enum, auto

from reference_impl.amqp import handshake
from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.session_methods import (
    ConnectionOpen,
    ConnectionOpenOk,
    ConnectionStartOk,
    ConnectionTuneOk,
)
from reference_impl.amqp.rules.errors import (
    ACCESS_REFUSED,
    COMMAND_INVALID,
    NOT_ALLOWED,
    AmqpError,
)
from reference_impl.amqp.rules.features import AUTHENTICATION_FAILURE_CLOSE
from reference_impl.amqp.session import Session


class HandshakeStep(Enum):
    GREETING = auto()
    STARTING = auto()
    TUNING = auto()
    OPENING = auto()
    OPEN = auto()


class Opening:
    """Fills the session in as it goes."""

    def __init__(self, session: Session) -> None:
        self.step = HandshakeStep.GREETING
        self.given_name = ""
        self._session = session
        self._greeting = b""

    def greet(self, octets: bytes) -> bytes | None:
        """Return what follows the protocol header; None if it is another protocol."""
        self._greeting += octets
        wanted = handshake.PROTOCOL_HEADER
        if not wanted.startswith(self._greeting[: len(wanted)]):
            return None
        if len(self._greeting) < len(wanted):
            return b""
        self.step = HandshakeStep.STARTING
        return self._greeting[len(wanted) :]

    def take(self, method: Method) -> Method | None:
        """The answer, if there is one. Raises AmqpError."""
        match self.step, method:
            case HandshakeStep.STARTING, ConnectionStartOk():
                return self._login(method)
            case HandshakeStep.TUNING, ConnectionTuneOk():
                handshake.check_tuned(self._session.settings, method)
                self._session.frame_max = method.frame_max
                self.step = HandshakeStep.OPENING
                return None
            case HandshakeStep.OPENING, ConnectionOpen():
                handshake.check_virtual_host(method)
                self.step = HandshakeStep.OPEN
                return ConnectionOpenOk()
        text = f"unexpected method in connection state {self.step.name.lower()}"
        raise AmqpError(COMMAND_INVALID, text, method.index)

    def may_hear(self, error: AmqpError) -> bool:
        """Return whether the client gets the error."""
        if self.step is HandshakeStep.STARTING:
            wants = AUTHENTICATION_FAILURE_CLOSE in self._session.capabilities
            return wants and error.code == ACCESS_REFUSED
        if self.step in (HandshakeStep.TUNING, HandshakeStep.OPENING):
            return error.code == NOT_ALLOWED
        return self.step is HandshakeStep.OPEN

    def _login(self, method: ConnectionStartOk) -> Method:
        self._session.capabilities = handshake.capabilities(method)
        self.given_name = handshake.given_name(method)
        self._session.user = handshake.authenticate(method)
        self.step = HandshakeStep.TUNING
        return handshake.tune(self._session.settings)
