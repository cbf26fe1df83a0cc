"""What containers may do and use: nothing that their role does not need, and within limits."""

from typing import Any

import pytest
import yaml

from harness.deploy import labels
from harness.deploy.compose.compose_layouts import compose_layout
from harness.deploy.compose.core.confined import RIGHTS, confined
from harness.deploy.compose.core.render import render, side_by_side
from harness.deploy.compose.core.settings import Settings
from harness.systems.catalogue import load_layout

SETTINGS = Settings(worker_image="worker:1", network="10.2.3")
LAYOUTS = {
    "rabbitmq-mirrored": "all-automatic-toxiproxy",
    "reference-mirrored": "all-automatic-haproxy-pair",
    "rocketmq-2m2s": "separated@compressed",
}
# By role: what is not in it no container has. A balancer is a process that stands before brokers.
MOST = {
    "host": set(),
    "process": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"},
    "toxiproxy": set(),
    "addresses": {"NET_ADMIN"},
    "agent": set(),
    "workers": {"KILL", "SETGID", "SETUID", "SYS_NICE"},
}
BALANCER = MOST["process"] | {"KILL", "SYS_CHROOT", "NET_ADMIN", "NET_BROADCAST", "NET_RAW"}


def services() -> list[tuple[str, dict[str, object]]]:
    found = []
    for system, name in LAYOUTS.items():
        document = yaml.safe_load(render(compose_layout(load_layout(system, name)), SETTINGS))
        found += [(f"{system}: {name}", one) for name, one in document["services"].items()]
    together = [load_layout(system, "all-automatic") for system in list(LAYOUTS)[:2]]
    document = yaml.safe_load(side_by_side([compose_layout(one) for one in together], SETTINGS))
    return [
        *found,
        *((f"side by side: {name}", one) for name, one in document["services"].items()),
    ]


SERVICES = services()


@pytest.mark.parametrize(("name", "service"), SERVICES, ids=[name for name, _ in SERVICES])
def test_every_container_has_its_rights_and_limits(name: str, service: dict[str, Any]) -> None:
    marks = service["labels"]
    assert isinstance(marks, dict)
    role = marks[labels.ROLE]
    most = BALANCER if "balancer" in name else MOST[{"proxy": "toxiproxy"}.get(role, role)]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert set(service.get("cap_add", ())) <= most
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert service["logging"]["options"]["max-size"]
    assert not service.get("privileged")


def test_every_role_says_what_it_may() -> None:
    assert set(RIGHTS) == {word for name, word in vars(labels).items() if name.startswith("ROLE_")}


def test_an_unknown_role_gets_no_container() -> None:
    with pytest.raises(KeyError):
        confined({"labels": {labels.ROLE: "somebody"}})
