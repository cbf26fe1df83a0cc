"""The log of a worker: what it refuses to record."""

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from harness.workers.protocol import Role
from harness.workers.recorder import Recorder
from spark_analysis.schema import tables
from spark_analysis.schema.body import Body
from spark_analysis.schema.words import Outcome
from tests.rigs.workers.rig import config, rows


class Died(Exception):
    """The worker ended, for this reason."""


def die(reason: str) -> NoReturn:
    raise Died(reason)


def test_a_level_that_the_system_does_not_declare_ends_the_worker(tmp_path: Path) -> None:
    settings = replace(config(Role.PUBLISHER, tmp_path), levels=(1, 9))
    recorder = Recorder(settings, die)
    recorder.attempt(1, 1, 0, 0, 0, 1, 1)
    recorder.settlements([(1, 1, Outcome.CONFIRMED, "")], 5, 1, confirm=9)
    with pytest.raises(Died, match="level 2, which its system does not declare"):
        recorder.settlements([(1, 1, Outcome.CONFIRMED, "")], 5, 1, confirm=2)


def test_a_way_that_the_system_does_not_declare_ends_the_worker(tmp_path: Path) -> None:
    settings = replace(config(Role.CONSUMER, tmp_path), ways=(9,))
    recorder = Recorder(settings, die)
    recorder.delivery(Body(None, False), 5, -1, 0, recorder.own_way(9), 1, 1)
    recorder.close()
    assert [row["via"] for row in rows(settings, tables.DELIVERIES)] == [9]
    for other in (1, 4, True):
        with pytest.raises(Died, match="which its system does not declare"):
            recorder.own_way(other)
