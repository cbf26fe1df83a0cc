"""Regular expressions of policies, as Erlang's `re` matches them: PCRE, with a limit of steps.

1. A match that takes more than STEPS_MAX steps is none, as in Erlang, whose limit is 10,000,000.
   Ours is lower, since a node of the reference waits for a match: some 10 ms at most.
2. Steps are counted, not time: the same names match on every machine.
"""

from functools import lru_cache

import pcre2

STEPS_MAX = 100_000
_CACHED = 4096


class PatternError(Exception):
    """An error of a pattern, in PCRE's words, or a match that takes more than STEPS_MAX steps."""


def check(pattern: str) -> None:
    """Raise PatternError where PCRE does not take the pattern."""
    try:
        _compiled(pattern)
    except (pcre2.LibraryError, ValueError) as error:
        raise PatternError(str(error)) from error


@lru_cache(_CACHED)
def matches(pattern: str, name: str) -> bool:
    """Return whether the pattern is found in the name, within STEPS_MAX steps."""
    try:
        return search(pattern, name)
    except PatternError:
        return False


def search(pattern: str, name: str) -> bool:
    """Return whether the pattern is found in the name. Raise PatternError."""
    check(pattern)
    try:
        return _compiled(pattern).search(name) is not None
    except (pcre2.LibraryError, ValueError) as error:
        raise PatternError(str(error)) from error


@lru_cache(_CACHED)
def _compiled(pattern: str) -> pcre2.Pattern:
    pcre2.compile(pattern, jit=False)  # an error names the position in what was given
    # Compiled code counts steps in another way than the interpreter, so there is none (jit=False).
    return pcre2.compile(f"(*LIMIT_MATCH={STEPS_MAX}){pattern}", jit=False)
