"""Many generated histories, the same ones whenever the same modules are loaded.

1. They change with the code of this function and of `styles`, and with the constants in ours:
   Hypothesis tries those of every module of the project that is loaded.
2. Hypothesis likes to try a choice again, so each history gets a seed that no other has.
"""

from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, settings

from spark_analysis.schema.facts import Facts
from tests.rigs.generated.facts import Style
from tests.rigs.generated.histories import History, Rows, history
from tests.rigs.generated.styles import styles

HISTORIES = 2_000


def fixed_histories(number: int = HISTORIES) -> list[tuple[Facts, Rows]]:
    """At least so many of them, told apart by the names of their runs."""
    return [(each.facts, each.rows) for each in tagged_histories(number)]


def tagged_histories(number: int = HISTORIES) -> list[History]:
    """The same, with words for what was meant to happen in them."""
    collected: list[History] = []

    @settings(
        max_examples=number,
        derandomize=True,
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
    return collected
