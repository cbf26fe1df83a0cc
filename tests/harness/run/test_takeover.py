"""When the last change of a master is over that a fault may have set off."""

import operator

import pytest

from faults.core.kind import Kind
from faults.kinds import KINDS
from harness.run.core.resolved_target import takeover_over_ns

S = 1_000_000_000
SILENT = [kind for kind in KINDS.values() if kind.silences_peers]
AGAIN_AND_AGAIN = [kind for kind in SILENT if kind.repeats]
ONCE = [kind for kind in SILENT if not kind.repeats]
NAMED = operator.attrgetter("name")
NOTICED = [kind for kind in KINDS.values() if not kind.silences_peers]


@pytest.mark.parametrize("kind", NOTICED, ids=NAMED)
def test_peers_with_broken_connections_agree_when_the_host_is_back(kind: Kind) -> None:
    assert (
        takeover_over_ns(kind, returned_ns=10 * S, gone_ns=20 * S, detection_timeout_s=60)
        == 21 * S
    )


@pytest.mark.parametrize("kind", ONCE, ids=NAMED)
def test_hosts_that_had_given_up_agree_after_reconnecting(kind: Kind) -> None:
    assert (
        takeover_over_ns(kind, returned_ns=10 * S, gone_ns=40 * S, detection_timeout_s=10)
        == 51 * S
    )


@pytest.mark.parametrize("kind", ONCE, ids=NAMED)
def test_peers_may_remove_a_host_for_a_just_ended_silence(kind: Kind) -> None:
    assert takeover_over_ns(
        kind, returned_ns=10 * S, gone_ns=14 * S, detection_timeout_s=10
    ) == round(33.5 * S)


@pytest.mark.parametrize("kind", AGAIN_AND_AGAIN, ids=NAMED)
def test_the_last_silence_of_a_flapping_link_counts(kind: Kind) -> None:
    assert takeover_over_ns(
        kind, returned_ns=10 * S, gone_ns=40 * S, detection_timeout_s=10
    ) == round(63.5 * S)
