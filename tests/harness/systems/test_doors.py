"""What systems declare to be said at their doors: the agent can import and send it."""

from pathlib import Path

import pytest

from faults.executors.doors import Doors, Greeter
from harness.systems.catalogue import load_layout
from harness.systems.files import copy_worker_sources
from harness.systems.rabbitmq.doors import MIRRORED_DOORS
from harness.systems.rocketmq.doors import doors_of
from harness.workers.loading import loaded

LOGS = doors_of(load_layout("rocketmq-2m2s", "colocated").hosts)
EVERY = pytest.mark.parametrize("doors", [MIRRORED_DOORS, LOGS], ids=["queues", "logs"])


def code_of(doors: Doors) -> list[str]:
    texts = [doors.canaries] if doors.canaries else []
    return [*texts, *([doors.hello.by] if isinstance(doors.hello, Greeter) else [])]


@EVERY
def test_code_that_the_agent_is_told_to_import_lies_in_its_image(
    doors: Doors, tmp_path: Path
) -> None:
    copy_worker_sources(tmp_path)
    for text in code_of(doors):
        assert callable(loaded(text))
        module = text.partition(":")[0].replace(".", "/")
        assert (tmp_path / f"{module}.py").is_file()


@EVERY
def test_words_stand_for_bytes_and_a_word_between_peers_begins_no_greeting(doors: Doors) -> None:
    greets = doors.greeting.arguments.values()
    assert doors.peer_word
    for text in (*greets, doors.peer_word):
        assert text.encode("latin-1").decode("latin-1") == text
    assert not any(text.startswith(doors.peer_word) for text in greets)
