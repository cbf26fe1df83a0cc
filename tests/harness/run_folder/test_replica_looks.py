"""Looks at replicas: what is written is read again, and nothing else is."""

from dataclasses import replace

import pytest

from harness.run_folder.replica_looks import KIND, ReplicaLook, look_text, looks
from harness.run_folder.rows import Probe

ROW = Probe(0, KIND, "orders", 10, 20, 1, look_text("ref3", ("ref1", "ref2"), ("ref2",)))


def test_a_look_names_hosts_and_the_synchronised_copies() -> None:
    (look,) = looks([ROW])
    assert look == ReplicaLook("orders", 10, 20, "ref3", ("ref1", "ref2"), ("ref2",))
    assert [look.is_synchronised(host) for host in look.copies] == [False, True]
    assert look.describe("ref1") == "ref1 (not synchronised)"


def test_what_no_broker_reported_stays_unknown() -> None:
    (look,) = looks([replace(ROW, detail=look_text(None, ("ref1",), None))])
    assert (look.serving, look.is_synchronised("ref1"), look.describe("ref1")) == (
        "",
        None,
        "ref1",
    )


@pytest.mark.parametrize("detail", ["", "{}", "[]", '{"serving": "a", "copies": 3}'])
def test_an_unreadable_look_is_left_out(detail: str) -> None:
    assert looks([replace(ROW, detail=detail)]) == ()


def test_other_probes_are_no_looks_and_looks_are_in_order() -> None:
    early = replace(ROW, started_ns=1, ended_ns=2)
    found = looks([ROW, replace(ROW, kind="verified"), early])
    assert [look.at_ns for look in found] == [2, 20]
