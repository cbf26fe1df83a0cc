"""Pulls an image within a deadline, so that a silent network does not block a run.

1. A failed pull is an answer, not an error: the caller builds instead, or reports what it lacks.
"""

import threading
from collections.abc import Callable

import docker
from docker.errors import APIError, DockerException
from docker.utils import parse_repository_tag

from harness.cluster.port import Progress

FIRST_WORD_LIMIT_S = 10.0  # until the registry has been heard of
WHOLE_LIMIT_S = 300.0
LATEST = "latest"  # without a tag the engine would pull every one


def pull(client: docker.DockerClient, name: str, progress: Progress) -> bool:
    """Whether the image is here now. What goes on behind a missed deadline does no harm."""
    progress(f"pulling {name}")
    first_word, done = threading.Event(), threading.Event()
    outcome: list[str] = []

    def work() -> None:
        outcome.append(_pull(client, name, first_word.set))
        first_word.set()
        done.set()

    threading.Thread(target=work, name=f"pull {name}", daemon=True).start()
    if not first_word.wait(FIRST_WORD_LIMIT_S):
        progress(f"not pulled: the registry was silent for {FIRST_WORD_LIMIT_S:.0f} s")
        return False
    if not done.wait(WHOLE_LIMIT_S):
        progress(f"not pulled: not whole after {WHOLE_LIMIT_S:.0f} s")
        return False
    if outcome[0]:
        progress(f"not pulled: {outcome[0]}")
    return not outcome[0]


def _pull(client: docker.DockerClient, name: str, first_word: Callable[[], None]) -> str:
    """Empty when it is here, else the reason."""
    repository, tag = parse_repository_tag(name)
    try:
        for line in client.api.pull(repository, tag=tag or LATEST, stream=True, decode=True):
            if "error" in line:
                return str(line["error"]).strip()
            first_word()
    except APIError as error:
        return str(error.explanation or error)
    except (DockerException, OSError) as error:
        return str(error)
    return ""
