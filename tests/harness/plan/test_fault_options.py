"""Options that a kind declares: their keys in a scenario, and their values in the fault."""

from dataclasses import dataclass, replace

import pytest

from faults.core.options import GENERAL, AffectedClients, Option
from faults.kinds import KINDS, OPTIONS
from faults.kinds.client_links.slow import SlowOptions
from harness.plan.files.fault_options import limit_problem, options_of
from harness.plan.files.fault_table import FaultTable, GeneralFaultTable

SIZE = Option("size", "messages that are lost", 1, least=1, most=10)
DELAY = Option("delay", "how late they come", 0.5, least=0.1)
FATE = Option("fate", "what becomes of them", "lost", ("lost", "late"))


@dataclass(frozen=True, slots=True)
class ForeignOptions(AffectedClients):
    size: int = SIZE.field()
    delay_s: float = DELAY.field()
    fate: str = FATE.field()


FOREIGN = replace(KINDS["hang"], name="lose", options=ForeignOptions)


def test_the_table_of_a_fault_has_general_keys_and_those_of_every_kind() -> None:
    assert tuple(GeneralFaultTable.model_fields) == GENERAL
    assert tuple(FaultTable.model_fields) == (*GENERAL, *OPTIONS)


def test_keys_of_a_table_become_the_fields_of_the_own_kinds_options() -> None:
    values = {"kind": "lose", "clients": "consumers", "size": 3, "delay": 0.2, "down": 1.0}
    found = options_of(FOREIGN, values)
    assert found == ForeignOptions(clients="consumers", size=3, delay_s=0.2)
    assert found.affected_clients == "consumers"
    assert options_of(KINDS["slow"], {"latency": 0.2}) == SlowOptions(latency_s=0.2)


def test_a_readable_table_gives_the_options_that_its_shape_would_give() -> None:
    given = {"kind": "slow", "latency": "200 ms", "clients": "consumers", "lasts": 7}
    found = FaultTable.readable(given)
    assert found.lasts is None  # a text with a unit is a length
    assert found.options(KINDS["slow"]) == SlowOptions(clients="consumers", latency_s=0.2)


@pytest.mark.parametrize(
    "wrong",
    [{"latency": 3}, {"latency": "1 T"}, {"rate": "3"}, {"clients": "gone"}, {"clients": ["all"]}],
)
def test_a_table_with_a_wrong_option_has_no_options(wrong: dict[str, object]) -> None:
    assert FaultTable.readable({"kind": "slow", **wrong}).options(KINDS["slow"]) is None


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        (SIZE, 11, "must be from 1 to 10"),
        (SIZE, 10, ""),
        (SIZE, "many", ""),  # the shape says so
        (DELAY, "50 ms", "must be at least 0.1 s"),
        (DELAY, "3 s", ""),
        (DELAY, "1 T", ""),
        (FATE, "gone", ""),
    ],
)
def test_values_outside_an_options_limits_are_a_problem(
    option: Option, value: object, text: str
) -> None:
    assert limit_problem(option, value) == text
