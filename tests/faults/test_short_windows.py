"""Faults whose window ends before a look can be over: what their packet filter counted decides."""

from dataclasses import replace

import pytest

from faults.core.actions import Isolate, Kill
from faults.core.kind import ArmedFault, Kind
from faults.core.model import Receipt
from faults.executors.core import packet_filter
from faults.kinds import KINDS
from faults.verification import counted, shortest_s

BLIP = ArmedFault(
    *(1, "partition", "rmq1", ("rmq1",), "", "packet_filter", (), (), "MQPROOF_1", ("rmq1",)),
    declared=KINDS["partition"],
)


def test_packets_dropped_by_every_chain_prove_a_short_partition() -> None:
    proof = counted(BLIP, Receipt(0, 1, (("rmq1", 12), ("rmq2", 3))), 0.2)
    assert proof.ok
    assert "12 in rmq1, 3 in rmq2" in proof.detail
    assert "it was shorter than a check of 3.5 s (it lasted 0.2 s)" in proof.detail


def test_a_chain_that_dropped_nothing_proves_nothing() -> None:
    proof = counted(BLIP, Receipt(0, 1, (("rmq1", 12), ("rmq2", 0))), 0.2)
    assert not proof.ok
    assert "our chain in rmq2 dropped nothing" in proof.doubt


def test_a_proxy_counts_no_packets() -> None:
    proof = counted(replace(BLIP, mechanism="proxy"), Receipt(0, 1), 0.2)
    assert not proof.ok
    assert "a proxy counts no packets" in proof.doubt


def test_no_packet_shows_that_a_process_was_killed() -> None:
    kind = KINDS["reboot"]
    short = replace(
        BLIP, kind="reboot", declared=kind, actions=(Isolate("rmq1", "c"), Kill("rmq1"))
    )
    proof = counted(short, Receipt(0, 1, (("rmq1", 12),)), 0.2)
    assert not proof.ok
    assert "packets do not show its kill" in proof.doubt


def test_the_counters_are_printed_before_the_chain_is_removed() -> None:
    script = packet_filter.join("MQPROOF_1").splitlines()
    listing = next(n for n, line in enumerate(script) if "-nvxL MQPROOF_1" in line)
    removal = next(n for n, line in enumerate(script) if "-X MQPROOF_1" in line)
    assert listing < removal


@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_silence_takes_longer_to_prove_than_an_end(kind: Kind) -> None:
    assert shortest_s(kind) == (3.5 if kind.waits_for_silence else 1.0)
