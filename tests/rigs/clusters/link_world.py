"""Clients' links in memory: what proxies do to them, and what canaries on them meet."""

from dataclasses import dataclass, field

from faults.core.actions import AddToxic, Disable, Enable, RemoveToxic
from faults.core.model import DOWN, FIN, REFUSED, ROUND, RST, UP, FaultError, Reply, Words

ANSWERED = Reply(True, 0.001, "answered")
SILENT = Reply(False, 2.5, "silent for 2.5 s")
CLOSED = Reply(False, 0.001, "closed", FIN)
RESET = Reply(False, 0.001, "reset", RST)
NOT_TAKEN = Reply(False, 0.001, "refused", REFUSED)
STREAMS = {UP: {"upstream"}, DOWN: {"downstream"}, ROUND: {"upstream", "downstream"}}


@dataclass
class Links:
    toxics: dict[tuple[str, str], AddToxic] = field(default_factory=dict)  # by proxy and name
    disabled: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)  # proxies whose canaries were closed

    def change(self, action: AddToxic | RemoveToxic | Disable | Enable) -> None:
        match action:
            case AddToxic(proxies=proxies, toxic=toxic):
                self.toxics |= {(proxy, toxic): action for proxy in proxies}
            case RemoveToxic(proxies=proxies, toxic=toxic):
                for proxy in proxies:
                    self.toxics.pop((proxy, toxic), None)
            case Disable(proxies=proxies):
                self.disabled |= set(proxies)
                self.closed |= set(proxies)
            case Enable(proxies=proxies):
                self.disabled -= set(proxies)

    def reopen(self, proxies: tuple[str, ...]) -> None:
        """Fresh canaries; the first request on them proves that the way works."""
        for proxy in proxies:
            if not self.attempt(proxy).answered:
                raise FaultError(f"canary {proxy}: {self.attempt(proxy).detail}")
        self.closed -= set(proxies)

    def ask(self, proxy: str) -> Reply:
        """What a request on the canary meets."""
        return self.say(proxy, Words(ROUND))

    def attempt(self, proxy: str) -> Reply:
        if proxy in self.disabled:
            return NOT_TAKEN
        return RESET if self._with(proxy, "reset_peer", ROUND) else ANSWERED

    def say(self, proxy: str, words: Words) -> Reply:
        if proxy in self.closed:
            return CLOSED
        for limit in self._with(proxy, "limit_data", words.way):
            if words.octets > limit["bytes"]:
                self.closed.add(proxy)
                return Reply(False, 0.001, "closed", FIN, limit["bytes"])
        rates = [each["rate"] for each in self._with(proxy, "bandwidth", words.way)]
        if 0 in rates:
            return SILENT
        seconds = sum(words.octets / (1000 * rate) for rate in rates)
        seconds += sum(each["latency"] for each in self._with(proxy, "latency", words.way)) / 1000
        return Reply(True, 0.001 + seconds, "answered")

    def _with(self, proxy: str, type: str, way: str) -> list[dict[str, int]]:
        return [
            dict(toxic.attributes)
            for (name, _), toxic in self.toxics.items()
            if name == proxy and toxic.type == type and STREAMS[way] & set(toxic.streams)
        ]
