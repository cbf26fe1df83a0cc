"""Copies of consumers' offsets on slaves that lag, and what is no mere copy."""

from pathlib import Path

import pytest

from harness.run_folder.rows import Probe
from harness.view.observations import Observation
from harness.view.raw_lines import amended, stale, stale_text
from spark_analysis.schema.views import Change, Shown, Views

MASTER_A, SLAVE_A = Shown("broker-a", 0, "rkt1:10911"), Shown("broker-a", 1, "rkt3:10931")
MASTER_B = Shown("broker-b", 0, "rkt2:10921")
BEHIND = "committed 303 of 673, 370 behind"


def views_of(*shown: Shown) -> Views:
    return Views(
        changes=tuple(Change("r", 4, "route", "rkt2", str(one), True, -1, 9) for one in shown)
    )


def offset(host: str, detail: str = "") -> Probe:
    text = detail or "committed 673 of 673, 0 behind"
    return Probe(6, "consumer offset", f"{host} orders/0 g", 0, 1, int(not detail), text)


def test_slaves_copies_that_lag_leave_nothing_unread() -> None:
    probes = [offset("rkt1"), offset("rkt2"), offset("rkt3", BEHIND)]
    assert stale_text(probes, views_of(MASTER_A, MASTER_B, SLAVE_A)) == (
        "consumers' offsets after the drain: at the end of every queue on masters rkt1, rkt2 (the "
        "copies on slave rkt3 lag, which is harmless)"
    )


@pytest.mark.parametrize(
    ("probes", "shown"),
    [
        ([offset("rkt1", BEHIND), offset("rkt3")], (MASTER_A, SLAVE_A)),  # the master lags
        ([offset("rkt1", BEHIND), offset("rkt3", BEHIND)], (MASTER_A, SLAVE_A)),
        ([offset("rkt2"), offset("rkt3", BEHIND)], (MASTER_A, MASTER_B, SLAVE_A)),  # not read
        ([offset("rkt1"), offset("rkt3", BEHIND)], (MASTER_A,)),  # its role is unknown
        (
            [offset("rkt1"), offset("rkt3", "committed 9 of 4, 5 beyond its end")],
            (MASTER_A, SLAVE_A),
        ),
        ([offset("rkt1"), offset("rkt3")], (MASTER_A, SLAVE_A)),  # nothing lags
    ],
)
def test_whatever_may_be_more_than_a_copy_is_not_excused(
    probes: list[Probe], shown: tuple[Shown, ...]
) -> None:
    assert stale_text(probes, views_of(*shown)) == ""


def test_a_host_of_two_roles_is_of_unknown_role() -> None:
    later = Shown("broker-a", 0, "rkt3:10931")
    probes = [offset("rkt1"), offset("rkt3", BEHIND)]
    assert stale_text(probes, views_of(MASTER_A, SLAVE_A, later)) == ""


def test_without_probes_the_line_of_the_audit_stays(tmp_path: Path) -> None:
    text = stale(tmp_path, views_of(MASTER_A, SLAVE_A))
    lines = (Observation("audit", 0, True, "read"), Observation("consumer_offsets", 0, True, "x"))
    assert text == ""
    assert [amended(one, "", text) for one in lines] == [*lines]
    assert [amended(one, "", "y").text for one in lines] == ["read", "y"]
