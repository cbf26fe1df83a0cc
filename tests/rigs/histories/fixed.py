"""Many generated histories, the same ones whenever the same modules are loaded.

1. They change with `styles`, and with the constants in our code: Hypothesis tries those of every
   module of the project that is loaded. Where this module lies changes nothing, as the seed is
   written down; the agreement of the judges says whether it leads to enough of everything.
2. Hypothesis likes to try a choice again, so each history gets a seed that no other has.
"""

from dataclasses import replace
from functools import cache

from hypothesis import HealthCheck, Phase, given, seed, settings

from spark_analysis.schema.facts import Facts
from tests.rigs.generated.facts import Style
from tests.rigs.generated.histories import History, Rows, history
from tests.rigs.generated.styles import styles

HISTORIES, BY_NIGHT = 200, 1_000
FEW = 150
_SEED = int(
    "a197f9e97a465df4ada45721a464d1763035a380ab2a3b32"
    "ebd9ca0f7f5287d1022aac7fffc3832c7afb04e7efd60c42",
    16,
)


def often(number: int) -> int:
    """Return in how many of these histories each word and each tale must occur."""
    return max(1, 3 * number // BY_NIGHT)


def fixed_histories(number: int = HISTORIES) -> list[tuple[Facts, Rows]]:
    """At least so many of them, told apart by the names of their runs."""
    return [(each.facts, each.rows) for each in tagged_histories(number)]


@cache
def few_histories() -> tuple[tuple[Facts, Rows], ...]:
    """Enough for what every history tells something of; made once in a process. Do not change
    them."""
    return tuple(fixed_histories(FEW))


@cache
def tagged_histories(number: int = HISTORIES) -> tuple[History, ...]:
    """The same, with words for what was meant to happen in them; made once in a process."""
    collected: list[History] = []

    @seed(_SEED)
    @settings(
        max_examples=number,
        derandomize=True,  # nothing of the machine; whence it starts says the seed
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(styles())
    def collect(style: Style) -> None:
        number = len(collected)
        made = history(replace(style, seed=number << 32 | style.seed))
        collected.append(replace(made, facts=replace(made.facts, run=f"run {number}")))

    collect()
    return tuple(collected)
