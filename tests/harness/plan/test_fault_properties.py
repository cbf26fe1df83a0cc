"""What the analysis knows of a fault's kind: as the run recorded it, else as it is declared."""

from dataclasses import replace

import pytest

from faults.core.targets import CLIENT, CLIENT_LINK
from faults.kinds import KINDS
from harness.plan.fault_properties import properties_of, with_properties
from spark_analysis.schema.facts import Window

WINDOW = Window(1, "kill", 0, 0, None, True, True, "")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_declared_properties(kind: str) -> None:
    properties, declared = properties_of(kind), KINDS[kind]
    assert properties is not None
    assert properties.of_clients == (declared.applies_to == CLIENT)
    assert properties.of_client_links == (declared.applies_to == CLIENT_LINK)
    assert properties.ends_broker == declared.ends_broker
    assert properties.spares_disk == declared.spares_disk


def test_recorded_fault_properties_override_declared_ones() -> None:
    recorded = replace(WINDOW, properties=properties_of("freeze"))
    assert with_properties(recorded) is recorded


def test_an_older_run_uses_todays_declaration() -> None:
    assert with_properties(WINDOW).properties == properties_of("kill")


def test_an_undeclared_kind_has_no_known_properties() -> None:
    assert with_properties(replace(WINDOW, kind="meteor")).properties is None
