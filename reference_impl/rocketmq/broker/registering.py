"""The registration of a broker and its topics at all name servers (docs/behaviour/rocketmq.md 1,
3.1).

1. At its start, 10 s later, then every registerNameServerPeriod; and at once when a topic is new.
2. To each by a connection of its own, which is kept. If none answers in time the connection is
   closed, and the next round dials again: one that hangs costs the others nothing.
3. If they have a secret, a number is requested first on each connection, and each registration
   proven by it (remoting/proofs.py).
4. A slave learns from the answer where its master is, and where that one gives its log away.
"""

from collections.abc import Callable

from reference_impl.rocketmq.broker.parts import CurrentRole
from reference_impl.rocketmq.effects import REMOTING, Clock
from reference_impl.rocketmq.remoting.calls import Calls
from reference_impl.rocketmq.remoting.codes import RequestCode
from reference_impl.rocketmq.remoting.command import Command, request
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.remoting.proofs import NONCE, proven
from reference_impl.rocketmq.settings import BrokerSettings

MasterKnown = Callable[[str, str], None]  # its address, and where it gives its log away


class Registering:
    def __init__(
        self,
        config: BrokerSettings,
        clock: Clock,
        outbox: Outbox,
        calls: Calls,
        role: CurrentRole,
        body: Callable[[], bytes],
        master_known: MasterKnown,
    ) -> None:
        self._config = config
        self._clock = clock
        self._outbox = outbox
        self._calls = calls
        self._role = role
        self._body = body
        self._master_known = master_known
        self._links: dict[str, int | None] = {}  # by address; None: it is being dialled
        self._nonces: dict[int, str] = {}  # by connection
        self._due_ms = clock.now_ms()
        self._is_first = True

    def tick(self) -> None:
        now_ms, times = self._clock.now_ms(), self._config.times
        if now_ms >= self._due_ms:
            period = times.register_first if self._is_first else times.register_name_server_period
            self._due_ms, self._is_first = now_ms + period, False
            self.now()

    def now(self) -> None:
        for address in self._config.name_servers:
            link = self._links.get(address)
            if link is not None:
                self._register(address, link)
            elif address not in self._links:
                self._links[address] = None
                self._outbox.dial(address, REMOTING)

    def ask(self, body: bytes, heard: Callable[[bytes], None]) -> None:
        """Ask every name server as a control node; each answer is heard."""
        for address in self._config.name_servers:
            link = self._links.get(address)
            if address not in self._links:
                self._links[address] = None
                self._outbox.dial(address, REMOTING)
            elif link is not None and (link in self._nonces or not self._config.peer_secret):
                self._ask(link, body, heard)

    def dialled(self, address: str) -> bool:
        """Return whether it waits for a connection to there."""
        return address in self._links and self._links[address] is None

    def opened(self, address: str, connection: int) -> None:
        self._links[address] = connection
        if self._config.peer_secret:
            self._challenge(address, connection)
        else:
            self._register(address, connection)

    def refused(self, address: str) -> None:
        if self.dialled(address):
            del self._links[address]

    def closed(self, connection: int) -> None:
        self._nonces.pop(connection, None)
        for address, link in [*self._links.items()]:
            if link == connection:
                del self._links[address]

    def leave(self) -> None:
        """A broker that stops in order says so."""
        for link in self._links.values():
            if link is not None:
                self._say(link, RequestCode.UNREGISTER_BROKER, self._calls.number(), self._who())

    def _ask(self, link: int, body: bytes, heard: Callable[[bytes], None]) -> None:
        number = self._calls.number()

        def answered(answer: Command | None) -> None:
            if answer is not None and not answer.header.code:
                heard(answer.body)

        self._calls.begun(number, link, self._until_ms(), answered)
        self._say(link, RequestCode.CONTROL, number, {}, body)

    def _challenge(self, address: str, connection: int) -> None:
        number = self._calls.number()

        def heard(answer: Command | None) -> None:
            if answer is None or not answer.header.fields.get(NONCE):
                self._give_up(address, connection)
            else:
                self._nonces[connection] = answer.header.fields[NONCE]
                self._register(address, connection)

        self._calls.begun(number, connection, self._until_ms(), heard)
        self._outbox.send(connection, request(RequestCode.PEER_CHALLENGE, number))

    def _register(self, address: str, connection: int) -> None:
        if self._config.peer_secret and connection not in self._nonces:
            return  # its number was asked for, and is about to come
        number = self._calls.number()
        fields = {**self._who(), "haServerAddr": self._config.ha_address, "compressed": "false"}

        def heard(answer: Command | None) -> None:
            if answer is None:
                self._give_up(address, connection)
            elif answer.header.fields.get("masterAddr"):
                known = answer.header.fields
                self._master_known(known["masterAddr"], known.get("haServerAddr", ""))

        self._calls.begun(number, connection, self._until_ms(), heard)
        self._say(connection, RequestCode.REGISTER_BROKER, number, fields, self._body())

    def _say(
        self,
        connection: int,
        code: RequestCode,
        number: int,
        fields: dict[str, str],
        body: bytes = b"",
    ) -> None:
        secret = self._config.peer_secret
        if secret:
            command = proven(secret, self._nonces.get(connection, ""), code, number, fields, body)
        else:
            command = request(code, number, fields, body)
        self._outbox.send(connection, command)

    def _until_ms(self) -> int:
        return self._clock.now_ms() + self._config.times.register_broker_timeout_mills

    def _give_up(self, address: str, connection: int) -> None:
        if self._links.get(address) == connection:
            del self._links[address]
            self._nonces.pop(connection, None)
            self._outbox.close(connection)

    def _who(self) -> dict[str, str]:
        return {
            "brokerName": self._config.broker_name,
            "brokerAddr": self._config.address,
            "clusterName": self._config.broker_cluster_name,
            "brokerId": str(self._role.broker_id),
            **({"masterEpoch": str(self._role.epoch)} if self._role.epoch else {}),
        }
