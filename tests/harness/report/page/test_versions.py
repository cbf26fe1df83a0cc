"""The versions of a report: a reference behaves like a broker of some version, and is none."""

import pytest

from harness.report.lines import of_brokers, versions
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import summed
from tests.rigs.runs.reports import CELL, report

REFERENCE = (CELL[0], "reference-mirrored", *CELL[2:])
UNKNOWN = (CELL[0], "no-longer-installed", *CELL[2:])


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((CELL,), "3.10.8"),
        ((REFERENCE,), "none; Python brokers speak the protocol of 3.10.8"),
        ((CELL, REFERENCE), "3.10.8 (brokers; Python brokers speak its protocol)"),
        ((UNKNOWN,), "3.10.8"),
    ],
)
def test_a_reference_has_no_release_of_the_broker_that_it_imitates(
    cells: tuple[tuple[str, str, str, str], ...], text: str
) -> None:
    runs = [summed(Story(), cell=cell) for cell in cells]
    made = report(*runs, versions={"rabbitmq": "3.10.8", "pika": "1.4.4"})
    assert [*versions(made)] == [("pika", "1.4.4"), ("rabbitmq", text)]


def test_versions_of_brokers_and_of_imitations_stand_apart() -> None:
    own = summed(Story(), broker_version="3.10.8")
    imitation = summed(Story(), cell=REFERENCE, broker_version="3.10.25")
    made = report(own, imitation, versions={"rabbitmq": "3.10.25; 3.10.8"})
    text = "3.10.8 (brokers); 3.10.25 (protocol that the Python brokers speak)"
    assert [*versions(made)] == [("rabbitmq", text)]


def test_a_reference_reports_the_version_that_it_imitates() -> None:
    assert of_brokers("reference-mirrored") == "protocol that the Python brokers speak"
    assert of_brokers(CELL[1]) == of_brokers("no-longer-installed") == "version of the brokers"


def test_python_packages_are_not_taken_for_the_programs_of_their_name() -> None:
    made = report(summed(Story()), versions={"docker": "7.2.0", "erlang": "none"})
    assert [*versions(made)] == [("docker (Python package)", "7.2.0")]
