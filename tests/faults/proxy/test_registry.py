"""The rules over proxies and toxics, over a ground that can refuse."""

from dataclasses import dataclass, field

import pytest

from faults.proxy.core.addresses import AddressError
from faults.proxy.core.model import Proxy, ProxyError, Toxic
from faults.proxy.core.registry import Change, ListenError, Registry, Wanted
from faults.proxy.core.toxics.noop import Noop


@dataclass
class Ground:
    """Ports are given out in their order; `refused` addresses cannot be listened at."""

    refused: set[str] = field(default_factory=set)
    open_now: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def resolve(self, listen: str) -> str:
        if ":" not in listen:
            raise AddressError(f"address {listen}: missing port in address")
        return listen

    def open(self, proxy: Proxy) -> str:
        if proxy.listen in self.refused:
            raise ListenError(f"listen tcp {proxy.listen}: in use")
        self.open_now.append(proxy.name)
        return proxy.listen.replace(":0", ":4001")

    def close(self, proxy: Proxy) -> None:
        self.open_now.remove(proxy.name)

    def change(self, proxy: Proxy, change: Change) -> None:
        self.changes.append(f"{type(change).__name__} {proxy.name}.{change.toxic.name}")


def wanted(name: str = "p", listen: str = "h:0", up: str = "u:1", on: bool = True) -> Wanted:
    return Wanted(name, listen, up, on)


def noop(name: str, stream: str = "downstream") -> Toxic:
    return Toxic(name, "noop", stream, 1.0, Noop())


def test_a_proxy_that_cannot_listen_is_not_created() -> None:
    """Keep the name free, so that a second attempt at another address succeeds."""
    ground = Ground(refused={"h:0"})
    registry = Registry(ground)
    with pytest.raises(ProxyError, match="in use"):
        registry.create(wanted())
    assert registry.all() == []
    assert registry.create(wanted(listen="h:1")).enabled


def test_an_update_that_cannot_listen_leaves_the_proxy_closed() -> None:
    """Keep the new address in the closed proxy."""
    ground = Ground(refused={"h:9"})
    registry = Registry(ground)
    proxy = registry.create(wanted())
    with pytest.raises(ProxyError, match="in use"):
        registry.update(proxy, wanted(listen="h:9"))
    assert (proxy.enabled, proxy.listen, ground.open_now) == (False, "h:9", [])


def test_an_update_to_no_address_touches_nothing() -> None:
    ground = Ground()
    registry = Registry(ground)
    proxy = registry.create(wanted())
    with pytest.raises(ProxyError, match="missing port") as raised:
        registry.update(proxy, wanted(listen="nowhere"))
    assert (raised.value.status, proxy.listen, ground.open_now) == (500, "h:4001", ["p"])


def test_a_replaced_proxy_is_closed_first_but_an_identical_kept() -> None:
    ground = Ground()
    registry = Registry(ground)
    first = registry.create(wanted())
    assert registry.replace(wanted(listen="h:4001", on=False)) is first
    second = registry.replace(wanted(listen="h:4001", up="u:2"))
    assert second is not first
    assert (ground.open_now, registry.all()) == (["p"], [second])


def test_toxics_change_before_the_answer_and_reset_removes_all() -> None:
    ground = Ground()
    registry = Registry(ground)
    proxy = registry.create(wanted())
    for toxic in (noop("down"), noop("up", "upstream")):
        registry.add_toxic(proxy, toxic)
    registry.update_toxic(proxy, noop("down"))
    registry.update(proxy, wanted(listen="h:4001", on=False))
    registry.reset()
    assert ground.changes == [
        "Added p.down",
        "Added p.up",
        "Updated p.down",
        "Removed p.up",
        "Removed p.down",
    ]
    assert (proxy.enabled, proxy.toxics) == (True, [])
