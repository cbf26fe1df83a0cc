"""What the keeper says before its clusters run, as `mqproof up` understands it."""

import io

import pytest

from harness.by_hand import requests
from harness.cluster.port import DeployError
from harness.deploy import by_hand_lines as lines
from harness.plan.problems import PlanError
from harness.workers.protocol import encode

STEP = encode({"say": lines.STEP, "text": "start"})


def heard(*said: bytes) -> tuple[bool, list[str]]:
    """Whether the clusters are up, and the texts of the steps."""
    texts: list[str] = []
    up = requests._is_up(io.BytesIO(b"".join(said)), lambda one: texts.append(one["text"]))
    return up, texts


def test_steps_are_passed_on_until_the_clusters_are_up() -> None:
    assert heard(STEP, encode({"say": lines.UP}), STEP) == (True, ["start"])
    assert heard(STEP) == (False, ["start"])


def test_wrong_input_of_a_keeper_is_bad_input() -> None:
    with pytest.raises(PlanError, match="ports 5672 in use"):
        heard(STEP, encode({"say": lines.REFUSED, "problems": ["ports 5672 in use"]}))


def test_any_other_failure_of_a_keeper_is_none() -> None:
    with pytest.raises(DeployError, match="the engine is silent"):
        heard(encode({"say": lines.FAILED, "text": "the engine is silent"}))
