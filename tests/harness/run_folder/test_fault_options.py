"""Options of faults as manifests and journals record them."""

import pytest

from faults.core.options import FaultOptions
from faults.kinds import KINDS
from faults.kinds.client_links.slow import SlowOptions
from harness.run_folder.fault_options import options_from_json, options_to_json
from tests.rigs.clusters.fault_world import OPTIONS_OF

RECORDED = {  # since the first journals: with every option of every kind
    "clients": "all",
    "direction": "both",
    "shape": "one",
    "resource": "memory",
    "latency_s": 0.0,
    "rate_kb": 0,
    "bytes": 0,
    "down_s": 0.0,
    "up_s": 0.0,
    "loss": 0,
    "delay_s": 0.0,
    "jitter_s": 0.0,
    "correlation": 0,
}


def test_a_record_has_every_option_whatever_the_kind_takes() -> None:
    assert options_to_json(FaultOptions()) == RECORDED
    slow = SlowOptions(clients="publishers", latency_s=0.5)
    assert options_to_json(slow) == RECORDED | {"clients": "publishers", "latency_s": 0.5}


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_options_are_read_as_their_kind_takes_them(kind: str) -> None:
    options = OPTIONS_OF[kind]
    assert options_from_json(kind, options_to_json(options)) == options


def test_an_operation_or_a_kind_without_its_package_has_no_options() -> None:
    assert options_from_json("stop_node", RECORDED | {"size": 3}) == FaultOptions()


def test_an_option_of_no_kind_is_none_of_a_fault_of_ours() -> None:
    with pytest.raises(TypeError, match="a kill takes no size"):
        options_from_json("kill", RECORDED | {"size": 3})
