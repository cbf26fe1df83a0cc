"""JSON as fastjson writes it: like JSON, except for keys that are no strings.

1. A map with integer keys is written `{0:"10.0.0.1:10911"}`: the keys are quoted before reading.
2. What stands in a string is left alone, whatever it looks like.
3. Keys come out as text, as they do from JSON that is strict.
"""

import json
import re
from typing import Any

from harness.workers.remoting.errors import WireError

# Outside of strings, digits between a brace or comma and a colon can be nothing but a key.
_STRING_OR_BARE_KEY = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?<=[{,])(\s*)(-?[0-9]+)(\s*)(?=:)', re.DOTALL
)


def read(octets: bytes) -> Any:
    """The value of a text. Raises WireError."""
    try:
        return json.loads(_STRING_OR_BARE_KEY.sub(_quoted, octets.decode()))
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON, nor fastjson's: {error}: {octets[:80]!r}") from error


def read_object(octets: bytes) -> dict[str, Any]:
    """As `read`, where only an object will do."""
    value = read(octets)
    if not isinstance(value, dict):
        raise WireError(f"not an object: {octets[:80]!r}")
    return value


def _quoted(found: "re.Match[str]") -> str:
    before, key, after = found.groups()
    return found.group() if key is None else f'{before}"{key}"{after}'
