"""Pulling an image within a deadline: a network that gives nothing must not hold anybody up.

1. A failed pull is an answer, not an error: the caller builds instead, or says what is missing.
"""

import threading
from collections.abc import Callable

import docker
from docker.errors import APIError, DockerException

from harness.cluster.port import Progress

FIRST_WORD_LIMIT_S = 10.0  # until the registry has been heard of
WHOLE_LIMIT_S = 300.0


def pull(client: docker.DockerClient, name: str, progress: Progress) -> bool:
    """Whether the image is here now. What goes on behind a missed deadline does no harm."""
    progress(f"pulling {name}")
    heard, done = threading.Event(), threading.Event()
    outcome: list[str] = []

    def work() -> None:
        outcome.append(_pull(client, name, heard.set))
        heard.set()
        done.set()

    threading.Thread(target=work, name=f"pull {name}", daemon=True).start()
    if not heard.wait(FIRST_WORD_LIMIT_S):
        progress(f"not pulled: the registry was silent for {FIRST_WORD_LIMIT_S:.0f} s")
        return False
    if not done.wait(WHOLE_LIMIT_S):
        progress(f"not pulled: not whole after {WHOLE_LIMIT_S:.0f} s")
        return False
    if outcome[0]:
        progress(f"not pulled: {outcome[0]}")
    return not outcome[0]


def _pull(client: docker.DockerClient, name: str, heard: Callable[[], None]) -> str:
    """Empty when it is here, else the reason."""
    repository, _, tag = name.rpartition(":")
    try:
        for line in client.api.pull(repository, tag=tag, stream=True, decode=True):
            if "error" in line:
                return str(line["error"]).strip()
            heard()
    except APIError as error:
        return str(error.explanation or error)
    except (DockerException, OSError) as error:
        return str(error)
    return ""
