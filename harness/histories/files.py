"""The bytes of a history: a file, or what is packed in one, and never more than a bound.

1. What unpacks to more than BYTES_MAX is refused before it is held, so that no file can fill the
   machine's memory.
"""

import gzip
import zlib
from pathlib import Path

from harness.plan.problems import PlanError, Problem

BYTES_MAX = 1 << 29


def text_of(path: Path, bytes_max: int = BYTES_MAX) -> str:
    """The file's text. Raises PlanError where there is none."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            content = file.read(bytes_max + 1)
        if len(content) > bytes_max:
            raise PlanError([Problem(str(path), f"it holds more than {bytes_max:,} bytes")])
        return content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise PlanError([Problem(str(path), f"it cannot be read: {reason}")]) from error
    except UnicodeDecodeError as error:
        text = f"this is not UTF-8 (byte {error.start})"
        raise PlanError([Problem(str(path), text)]) from error
