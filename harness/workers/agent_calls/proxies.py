"""Proxy and toxic calls: everything that the agent asks of Toxiproxy.

1. `issued_ns` is read just before the first call that can take effect, `returned_ns` when the
   last one was answered: all on the agent's clock. Proxies are served side by side.
2. An addition that fails halfway is taken back before it is reported.
3. Removing what is not there is no error; a call that the server did not understand is one.
4. Every stall is released before any is removed: that ends it everywhere at one moment.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from faults.toxiproxy import Toxic, Toxiproxy, ToxiproxyError
from harness.workers.agent_calls import encrypted
from harness.workers.agent_calls.answers import CallError, in_thread

STREAMS = ("upstream", "downstream")
T = TypeVar("T")


class Proxies:
    """The calls, bound to one server. `listen`: the address that listeners are made at, on any
    free port, where no other is asked for."""

    def __init__(self, server: Toxiproxy, limit_s: float, listen: str) -> None:
        self._server = server
        self._limit_s = limit_s
        self._listen = f"[{listen}]:0" if ":" in listen else f"{listen}:0"

    async def create(self, name: str, upstream: str, listen: str = "") -> dict[str, Any]:
        """`listen`: `address:port`."""
        place = listen or self._listen
        state = await self._do(lambda: self._server.create(name, upstream, place))
        encrypted.leads(state.port, upstream)
        return {"port": state.port}

    async def every(self) -> dict[str, Any]:
        """Return every proxy, also those of other programs."""
        return await self._do(
            lambda: {"upstreams": {p.name: p.upstream for p in self._server.proxies().values()}}
        )

    async def delete(self, prefix: str) -> dict[str, Any]:
        """Deletes every proxy whose name begins so; an empty prefix would delete all."""
        if not prefix:
            raise CallError("bad", "proxy_delete needs a prefix")
        return {"deleted": await self._do(lambda: self._delete(prefix))}

    async def add(
        self,
        proxies: list[str],
        toxic: str,
        type: str,
        streams: list[str],
        attributes: dict[str, int],
    ) -> dict[str, Any]:
        toxics = [Toxic(f"{toxic}_{stream}", type, stream, attributes) for stream in streams]
        if not proxies or not toxics:
            raise CallError("bad", "toxic_add needs proxies and streams")
        return await self._do(lambda: self._add(proxies, toxics))

    async def remove(self, proxies: list[str], toxic: str) -> dict[str, Any]:
        return await self._do(lambda: self._remove(proxies, toxic))

    async def enable(self, proxies: list[str], enabled: bool) -> dict[str, Any]:
        """Enabling allows for proxies that are gone; disabling is taken back where one fails."""
        if not proxies:
            raise CallError("bad", "proxy_enable needs proxies")
        return await self._do(lambda: self._enable(proxies) if enabled else self._disable(proxies))

    async def reset(self) -> dict[str, Any]:
        return await self._do(lambda: _timed(self._reset))

    async def _do(self, work: Callable[[], T]) -> T:
        try:
            return await in_thread(work, self._limit_s)
        except TimeoutError:
            raise CallError("timeout", f"toxiproxy: no end in {self._limit_s:g} s") from None
        except ToxiproxyError as error:
            raise CallError("proxy", str(error)) from error

    def _delete(self, prefix: str) -> list[str]:
        names = sorted(name for name in self._server.proxies() if name.startswith(prefix))
        _each(names, self._delete_one)
        return names

    def _delete_one(self, name: str) -> None:
        with _absence_allowed():
            self._server.delete(name)

    def _add(self, proxies: list[str], toxics: list[Toxic]) -> dict[str, Any]:
        def add(proxy: str) -> None:
            for toxic in toxics:
                self._server.add_toxic(proxy, toxic)

        try:
            return _timed(lambda: _each(proxies, add))
        except ToxiproxyError:
            # An older toxic of that name goes as well: it would be undone by the same name.
            _each(proxies, lambda proxy: self._remove_each(proxy, [one.name for one in toxics]))
            raise

    def _remove(self, proxies: list[str], toxic: str) -> dict[str, Any]:
        names = [f"{toxic}_{stream}" for stream in STREAMS]

        def remove() -> None:
            _each(proxies, lambda proxy: self._release_each(proxy, names))
            _each(proxies, lambda proxy: self._remove_each(proxy, names))

        return _timed(remove)

    def _disable(self, proxies: list[str]) -> dict[str, Any]:
        try:
            return _timed(lambda: _each(proxies, lambda proxy: self._server.enable(proxy, False)))
        except ToxiproxyError:
            self._enable(proxies)
            raise

    def _enable(self, proxies: list[str]) -> dict[str, Any]:
        return _timed(lambda: _each(proxies, self._enable_one))

    def _enable_one(self, proxy: str) -> None:
        with _absence_allowed():
            self._server.enable(proxy, True)

    def _reset(self) -> None:
        toxics = {name: list(proxy.toxics) for name, proxy in self._server.proxies().items()}
        _each(toxics, lambda proxy: self._release_each(proxy, toxics[proxy]))
        self._server.reset()

    def _release_each(self, proxy: str, toxics: list[str]) -> None:
        for toxic in toxics:
            with _absence_allowed():
                self._server.release(proxy, toxic)

    def _remove_each(self, proxy: str, toxics: list[str]) -> None:
        for toxic in toxics:
            with _absence_allowed():
                self._server.remove_toxic(proxy, toxic)


def _timed(work: Callable[[], object]) -> dict[str, Any]:
    issued_ns = time.monotonic_ns()
    work()
    return {"issued_ns": issued_ns, "returned_ns": time.monotonic_ns()}


def _each(names: Iterable[str], work: Callable[[str], object]) -> None:
    """Side by side; every one is tried before the first error is raised."""
    names = list(names)
    if not names:
        return
    with ThreadPoolExecutor(max_workers=min(len(names), 16)) as pool:
        futures = [pool.submit(work, name) for name in names]
    for future in futures:
        future.result()


@contextmanager
def _absence_allowed() -> Iterator[None]:
    try:
        yield
    except ToxiproxyError as error:
        if not error.absent:
            raise
