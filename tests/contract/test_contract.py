"""The contract: what the real Toxiproxy answered once (answers.json) is what both servers answer.

1. The embedded proxy is always held against it; the real one where its binary can be had, so that
   the record itself is known to be true.
2. All cases are played before the first is judged: they spend their time waiting, so they wait
   side by side.
"""

import os
from pathlib import Path

import pytest

from tests.contract import servers
from tests.contract.generate import recorded
from tests.contract.play import NAMES, Answers, play
from tests.docker.conftest import require_docker

pytestmark = pytest.mark.slow

RECORDED = recorded()


@pytest.fixture(
    scope="session", params=["embedded", pytest.param("real", marks=pytest.mark.docker)]
)
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    if request.param == "embedded":
        return play(servers.embedded)
    binary = _real_binary(tmp_path_factory.mktemp("toxiproxy"))
    return play(lambda: servers.real(binary))


def test_every_one_of_many_cases_has_a_recorded_real_answer() -> None:
    assert set(RECORDED) == set(NAMES)
    assert len(RECORDED) >= 200


@pytest.mark.parametrize("case", NAMES)
def test_the_answer_is_the_real_servers(answers: Answers, case: str) -> None:
    assert answers[case] == RECORDED[case]


def _real_binary(folder: Path) -> str:
    if binary := os.environ.get(servers.BINARY):
        return binary
    require_docker()
    return servers.binary_from_image(folder)
