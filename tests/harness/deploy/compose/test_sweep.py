"""What is removed, in which order, and what happens when the engine resists."""

from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, NotFound

from harness.cluster.port import DeployError
from harness.deploy.compose.sweep import sweep


class Thing:
    """A container, network or volume that may resist a number of times."""

    def __init__(self, kind: "Kind", name: str, resists: int = 0, gone: bool = False) -> None:
        self.kind, self.name, self.resists, self.gone = kind, name, resists, gone

    def remove(self, **_options: Any) -> None:
        if self.gone:
            self.kind.things.remove(self)
            raise NotFound("gone")
        if self.resists:
            self.resists -= 1
            raise APIError("has active endpoints")
        self.kind.things.remove(self)
        self.kind.removed.append(self.name)


class Kind:
    def __init__(self, label: str, removed: list[str]) -> None:
        self.label, self.removed = label, removed
        self.things: list[Thing] = []

    def list(self, filters: dict[str, str], **_options: Any) -> list[Thing]:
        assert filters["label"].endswith("=p1")
        return list(self.things) if filters["label"].startswith(self.label) else []


def engine() -> Any:
    removed: list[str] = []
    kinds = {
        name: Kind("com.docker.compose.project", removed)
        for name in ("containers", "networks", "volumes")
    }
    return SimpleNamespace(removed=removed, **kinds)


def test_containers_go_before_what_they_hold() -> None:
    client = engine()
    for kind, name in ((client.volumes, "v"), (client.networks, "n"), (client.containers, "c")):
        kind.things.append(Thing(kind, name))
    sweep(client, "p1")
    assert client.removed == ["c", "n", "v"]
    sweep(client, "p1")


def test_resisting_object_is_retried_and_a_missing_one_is_success() -> None:
    client = engine()
    client.networks.things.append(Thing(client.networks, "n", resists=1))
    client.containers.things.append(Thing(client.containers, "c", gone=True))
    sweep(client, "p1")
    assert client.removed == ["n"]


def test_a_resource_that_cannot_be_removed_is_named() -> None:
    client = engine()
    client.networks.things.append(Thing(client.networks, "n", resists=99))
    with pytest.raises(DeployError, match=r"not removed completely:\nn: .*active endpoints"):
        sweep(client, "p1")
