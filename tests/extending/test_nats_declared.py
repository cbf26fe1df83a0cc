"""What examples/nats declares is whole: read here without its server and its library."""

import tomllib
from importlib import import_module
from typing import Any

import pytest

from harness.judging import brought_claims
from harness.outside.installed import Offer
from harness.plan.clients import registry as clients
from harness.plan.declared import of_layout
from harness.plan.layouts.guarantees import Guarantees
from harness.systems import catalogue
from harness.systems import registry as systems
from spark_analysis.schema.words import Level
from tests.extending.runs import ROOT

EXAMPLE = ROOT / "examples" / "nats"
POINTS = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
SYSTEM = "nats-jetstream"


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))


def offers(group: str) -> list[Offer]:
    return [Offer(name, "mqproof-nats 1.0", thing(text)) for name, text in POINTS[group].items()]


def thing(text: str) -> Any:
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)


def test_its_client_and_its_claims_are_accepted() -> None:
    found = clients.read(offers(clients.GROUP))
    assert (list(found.packages), found.spoilt) == (["nats-py"], {})
    brought = brought_claims.read(offers(brought_claims.GROUP))
    assert (list(brought.packages), brought.spoilt) == (["nats"], {})
    assert "acknowledged-by-a-quorum" in {claim.name for claim in brought.claims}


def test_its_system_is_accepted_with_every_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    found = systems.read(offers(systems.GROUP))
    assert (list(found.packages), found.spoilt) == ([SYSTEM], {})
    known = clients.read(offers(clients.GROUP))
    monkeypatch.setattr(catalogue, "registry", lambda: found)
    monkeypatch.setattr(clients, "registry", lambda: known)
    system = catalogue.load_system(SYSTEM)
    labels = catalogue.layout_names(SYSTEM)
    assert system.default_layout in labels
    for label in labels:
        layout = catalogue.load_layout(SYSTEM, label)
        promised = system.guarantees(layout)
        synced = of_layout(system, layout)["nats_sync_interval_s"]  # a fact that it brings
        assert synced == (0 if promised.confirm_waits_for_disk else 120)
        assert isinstance(promised, Guarantees)
        assert isinstance(promised.strength, Level)
        assert promised.strength in system.levels


def test_what_agents_and_workers_import_is_there() -> None:
    """By text: a worker's container has no more of mqproof than they need."""
    for path in ("agent_calls", "canaries", "client", "names"):
        source = (EXAMPLE / "mqproof_nats" / f"{path}.py").read_text()
        assert "harness.plan" not in source.partition('"""\n')[2]
