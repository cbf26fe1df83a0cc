"""When the last change of a master is over that a fault may have set off."""

import pytest

from harness.plan.model import FaultKind
from harness.run.takeover import SILENT, over_ns

S = 1_000_000_000


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind not in SILENT])
def test_peers_whose_connections_broke_have_agreed_when_the_host_is_back(kind: FaultKind) -> None:
    assert over_ns(kind, returned_ns=10 * S, gone_ns=20 * S, timer_s=60) == 21 * S


@pytest.mark.parametrize("kind", SILENT)
def test_hosts_that_had_given_each_other_up_agree_after_they_have_met_again(
    kind: FaultKind,
) -> None:
    assert over_ns(kind, returned_ns=10 * S, gone_ns=40 * S, timer_s=10) == 51 * S


@pytest.mark.parametrize("kind", SILENT)
def test_peers_may_give_a_host_up_for_a_silence_that_just_ended(kind: FaultKind) -> None:
    assert over_ns(kind, returned_ns=10 * S, gone_ns=14 * S, timer_s=10) == round(33.5 * S)
