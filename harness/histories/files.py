"""The text of a history: a file, what is packed in one, or a pipe, and never more than a bound."""

from pathlib import Path

from harness.outside import pipes
from harness.outside.files import HISTORY_BYTES_MAX, Unreadable, decoded
from harness.outside.files import text_of as bounded_text_of
from harness.plan.problems import PlanError, unreadable

EXPECTED = "a history: JSON of mqproof, EDN of Jepsen or TSV of OpenChaos"
ADVICE = "`mqproof judge --help` describes the formats"


def text_of(path: Path, bytes_max: int = HISTORY_BYTES_MAX) -> str:
    """The file's text. Raises PlanError where there is none."""
    try:
        if pipes.is_pipe(path):
            return decoded(pipes.content_of(path, bytes_max), bytes_max, "utf-8-sig")
        return bounded_text_of(path, bytes_max, "utf-8-sig")
    except (Unreadable, OSError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else failure
        place = "standard input" if path == pipes.STANDARD_INPUT else str(path)
        hint = "; to judge a pipe: COMMAND | mqproof judge -" if _is_fifo(path) else ""
        raise PlanError([unreadable(place, f"{reason}{hint}", EXPECTED, ADVICE)]) from failure


def _is_fifo(path: Path) -> bool:
    try:
        return path.is_fifo()
    except (OSError, ValueError):
        return False
