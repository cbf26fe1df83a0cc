"""The proxies and their toxics, and what may be done to them: the rules, without a socket.

1. Names of proxies are unique; names of toxics are unique in their proxy.
2. Every change takes effect in `Ground` before it is answered. What the ground refuses leaves the
   proxy disabled and is answered with 500.
3. A proxy that listens elsewhere or leads elsewhere is stopped first: its connections end.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from faults.proxy.core.addresses import AddressError
from faults.proxy.core.model import Proxy, ProxyError, Toxic

MISSING, EXISTS, FAILED = 404, 409, 500


class ListenError(Exception):
    """The address cannot be listened at; in the real server's words."""


@dataclass(frozen=True, slots=True)
class Added:
    toxic: Toxic


@dataclass(frozen=True, slots=True)
class Updated:
    toxic: Toxic


@dataclass(frozen=True, slots=True)
class Removed:
    toxic: Toxic


Change = Added | Updated | Removed


class Ground(Protocol):
    """The place where proxies take effect."""

    def resolve(self, listen: str) -> str:
        """The address with names looked up; raises AddressError."""

    def open(self, proxy: Proxy) -> str:
        """Listens, and returns the real address; raises ListenError."""

    def close(self, proxy: Proxy) -> None:
        """Listens no more, and ends every connection."""

    def change(self, proxy: Proxy, change: Change) -> None:
        """Applies a change of toxics to every connection that stands."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A proxy as somebody asks for it."""

    name: str
    listen: str
    upstream: str
    enabled: bool


class Registry:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._proxies: dict[str, Proxy] = {}

    def all(self) -> list[Proxy]:
        return list(self._proxies.values())

    def get(self, name: str) -> Proxy:
        if name not in self._proxies:
            raise ProxyError(MISSING, "proxy not found")
        return self._proxies[name]

    def create(self, wanted: Wanted) -> Proxy:
        if wanted.name in self._proxies:
            raise ProxyError(EXISTS, "proxy already exists")
        return self._add(wanted)

    def update(self, proxy: Proxy, wanted: Wanted) -> None:
        if self._differs(proxy, wanted):
            self._stop(proxy)
            proxy.listen, proxy.upstream = wanted.listen, wanted.upstream
        if wanted.enabled and not proxy.enabled:
            self._start(proxy)
        elif not wanted.enabled:
            self._stop(proxy)

    def remove(self, proxy: Proxy) -> None:
        self._stop(proxy)
        del self._proxies[proxy.name]

    def replace(self, wanted: Wanted) -> Proxy:
        """Keeps the proxy of that name if it is the same, enabled or not."""
        existing = self._proxies.get(wanted.name)
        if existing is not None:
            if not self._differs(existing, wanted):
                return existing
            self._stop(existing)
        return self._add(wanted)

    def reset(self) -> None:
        for proxy in self.all():
            if not proxy.enabled:
                self._start(proxy)
            for toxic in proxy.ordered():
                self.remove_toxic(proxy, toxic)

    def toxic(self, proxy: Proxy, name: str) -> Toxic:
        found = _named(proxy.toxics, name)
        if found is None:
            raise ProxyError(MISSING, "toxic not found")
        return found

    def add_toxic(self, proxy: Proxy, toxic: Toxic) -> None:
        assert _named(proxy.toxics, toxic.name) is None, toxic
        proxy.toxics.append(toxic)
        self._ground.change(proxy, Added(toxic))

    def update_toxic(self, proxy: Proxy, toxic: Toxic) -> None:
        proxy.toxics[proxy.toxics.index(self.toxic(proxy, toxic.name))] = toxic
        self._ground.change(proxy, Updated(toxic))

    def remove_toxic(self, proxy: Proxy, toxic: Toxic) -> None:
        proxy.toxics.remove(toxic)
        self._ground.change(proxy, Removed(toxic))

    def _add(self, wanted: Wanted) -> Proxy:
        proxy = Proxy(wanted.name, wanted.listen, wanted.upstream)
        if wanted.enabled:
            self._start(proxy)
        self._proxies[proxy.name] = proxy
        return proxy

    def _start(self, proxy: Proxy) -> None:
        try:
            proxy.listen = self._ground.open(proxy)
        except ListenError as error:
            raise ProxyError(FAILED, str(error)) from None
        proxy.enabled = True

    def _stop(self, proxy: Proxy) -> None:
        if proxy.enabled:
            proxy.enabled = False
            self._ground.close(proxy)

    def _differs(self, proxy: Proxy, wanted: Wanted) -> bool:
        try:
            listen = self._ground.resolve(wanted.listen)
        except AddressError as error:
            raise ProxyError(FAILED, str(error)) from None
        return proxy.listen != listen or proxy.upstream != wanted.upstream


def _named(toxics: Iterable[Toxic], name: str) -> Toxic | None:
    return next((toxic for toxic in toxics if toxic.name == name), None)
