"""Suites: experiments that bring their system, layouts and clients, by one word.

1. A suite is a file of mqproof's own (harness/plan/suites).
2. A suite sets its own options; giving one of them as well is an error. The system may be given
   if the suite can be played on several.
"""

from collections.abc import Iterator, Sequence
from importlib import resources

from harness.plan.files.suite import Suite
from harness.plan.files.toml_problems import validated
from harness.plan.problems import Problem, unknown
from harness.systems.files import text_in

COMPRESSED = "--compressed"
_FOLDER = "suites"


def names() -> list[str]:
    folder = resources.files("harness.plan").joinpath(_FOLDER)
    files = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def suite(name: str) -> Suite:
    """One that comes with mqproof."""
    file = f"{name}.toml"
    return validated(Suite, text_in("harness.plan", f"{_FOLDER}/{file}")(), file)


def problems(
    words: Sequence[str], systems: Sequence[str], flags: Sequence[str], compressed: bool
) -> Iterator[Problem]:
    """Yield the problems of arguments if some name suites. `systems`: those that were named;
    `flags`: the given ones that a suite sets itself."""
    meant = [word for word in dict.fromkeys(words) if word in names()]
    if compressed and not meant:
        yield Problem(COMPRESSED, "is for suites alone", tuple(names()))
    for word in meant[:1]:
        if len(words) > 1:
            yield Problem("SCENARIO", f"{word} is a suite, which is played alone")
        known = suite(word).systems
        for system in systems:
            if system not in known:
                yield unknown("--system", "system of the suite", system, known)
        if len(systems) > 1:
            yield Problem("--system", f"{word} is a suite, which is played on one")
        for flag in flags:
            yield Problem(flag, f"{word} is a suite, which brings its own")
