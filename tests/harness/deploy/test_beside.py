"""What `mqproof up` starts in containers: the shipped file, with ports on loopback alone."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from docker import DockerClient

from harness.cluster.port import DeployError
from harness.deploy import beside, engine
from harness.deploy.__main__ import default_layouts
from harness.deploy.beside import LISTENS_FROM, SideBySide, mappings, published_ports
from harness.deploy.compose.compose_layouts import by_hand, compose_layout
from harness.deploy.images import Images
from harness.deploy.loopback_block import Block
from harness.systems.files import compose_folder

FILE = compose_folder() / "side-by-side.yaml"
COOKIE = re.compile(r"\$\{MQPROOF_REFERENCE_COOKIE[^}]*\}|[0-9a-f]{64}")
VARIABLE = re.compile(r"\$\{\w+:-([^}]*)\}")
OF_A_RUN = ("mqproof.experiment", "mqproof.owner", "mqproof.keep", "mqproof.user")


def plain(text: str) -> str:
    """Variables as their defaults."""
    return VARIABLE.sub(r"\1", text)


def document(text: str) -> dict[str, Any]:
    """The document without what differs from one start to the next."""
    found: dict[str, Any] = yaml.safe_load(COOKIE.sub("cookie", plain(text)))
    for service in found["services"].values():
        service["labels"] = {k: v for k, v in service["labels"].items() if k not in OF_A_RUN}
        service.pop("volumes", None)
    return {"services": found["services"], "networks": sorted(found["networks"])}


def started(folder: Path) -> str:
    """The text by which `up` starts every default layout, on the shipped file's addresses."""
    layouts = default_layouts()
    settings = by_hand(layouts)
    found = [
        Images(
            plain(compose_layout(one).image),
            plain(settings.proxy_image),
            plain(by_hand([one]).worker_image),
        )
        for one in layouts
    ]
    made = beside._Beside(
        cast(DockerClient, None),
        cast(Any, None),
        layouts,
        found,
        folder,
        cast(Any, None),
        published_ports(layouts),
        Block("127.64.7"),
    )
    return made._write("mqproof-1", "172.31.7").read_text(encoding="utf-8")


def test_up_starts_the_shipped_file(tmp_path: Path) -> None:
    shipped = FILE.read_text(encoding="utf-8")
    assert document(started(tmp_path)) == document(shipped)


def test_every_published_port_is_of_the_proxy_and_on_loopback() -> None:
    services = yaml.safe_load(plain(FILE.read_text(encoding="utf-8")))["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["toxiproxy"]
    ports = [one.split(":") for one in services["toxiproxy"]["ports"]]
    assert all(address.startswith("127.64.7.") for address, _, _ in ports)
    assert len({(address, port) for address, port, _ in ports}) == len(ports)
    assert len({listens_at for _, _, listens_at in ports}) == len(ports)
    assert ["127.64.7.100", "8474", "8474"] in ports


def test_only_the_proxy_is_in_the_network_that_publishes() -> None:
    found = yaml.safe_load(plain(FILE.read_text(encoding="utf-8")))
    services = found["services"].items()
    inside = [name for name, one in services if "published" in one.get("networks", ())]
    assert inside == ["toxiproxy"]
    options = found["networks"]["published"]["driver_opts"]
    assert options == {"com.docker.network.bridge.enable_ip_masquerade": "false"}
    assert all(found["networks"][name]["internal"] for name in ("servers", "clients"))


def test_ports_are_shifted_for_this_machine_alone() -> None:
    ports = published_ports(default_layouts()[:1])
    shifted = mappings(ports, 1_000)
    assert shifted[0][1:] == (6672, LISTENS_FROM)
    assert shifted[-1] == (100, 9474, 8474)


def test_taken_ports_are_an_error_before_any_image_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_: object, **__: object) -> Block:
        raise DeployError("no free block")

    monkeypatch.setattr(beside, "free_block", taken)
    monkeypatch.setattr(engine, "connect", lambda: pytest.fail("too late"))
    starting = SideBySide(cast(Any, None), lambda _: None).up(default_layouts(), tmp_path, print)
    with pytest.raises(DeployError, match="no free block"):
        starting.send(None)


def test_names_of_brokers_forbid_other_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    moves: list[bool] = []

    def free(_: object, may_move: bool) -> Block:
        moves.append(may_move)
        return Block("127.64.7")

    monkeypatch.setattr(beside, "free_block", lambda ports, moves: free(ports, moves))
    for layouts in (default_layouts(), default_layouts()[:1]):
        beside._block(layouts, published_ports(layouts))
    assert moves == [False, True]


def test_a_file_of_one_system_publishes_nothing() -> None:
    text = (compose_folder() / "rabbitmq-mirrored" / "compose.yaml").read_text(encoding="utf-8")
    assert "ports:" not in text and "published" not in text
