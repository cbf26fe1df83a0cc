"""The text of a history: a file, or what is packed in one, and never more than a bound."""

from pathlib import Path

from harness.outside.files import HISTORY_BYTES_MAX, Unreadable
from harness.outside.files import text_of as bounded_text_of
from harness.plan.problems import PlanError, Problem


def text_of(path: Path, bytes_max: int = HISTORY_BYTES_MAX) -> str:
    """The file's text. Raises PlanError where there is none."""
    try:
        return bounded_text_of(path, bytes_max, "utf-8-sig")
    except Unreadable as reason:
        raise PlanError([Problem(str(path), f"cannot be read: {reason}")]) from reason
