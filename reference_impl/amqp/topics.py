"""Topic keys against patterns (docs/behaviour/rabbitmq.md 2.3).

1. Words are split on "."; the empty key has no words.
2. `*` stands for exactly one word, `#` for any number of them, none included.
"""

from itertools import accumulate
from operator import or_


def words(key: str) -> tuple[str, ...]:
    return tuple(key.split(".")) if key else ()


def matches(pattern: tuple[str, ...], key: tuple[str, ...]) -> bool:
    """One pass a word of the pattern: `reached[n]` says whether n words of the key are spent."""
    reached = [True] + [False] * len(key)
    for wanted in pattern:
        if wanted == "#":
            reached = list(accumulate(reached, or_))
        else:
            steps = zip(reached, key, strict=False)
            reached = [False, *(here and wanted in ("*", word) for here, word in steps)]
    return reached[-1]
