"""Many generated histories, the same ones whenever the same modules are loaded.

1. They change with the code of this function and of `histories`, and with the constants in ours:
   Hypothesis tries those of every module of the project that is loaded.
"""

from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, settings

from spark_analysis.schema.facts import Facts
from tests.generated_histories import Rows, histories

HISTORIES = 2_000


def fixed_histories(number: int = HISTORIES) -> list[tuple[Facts, Rows]]:
    """At least so many of them, told apart by the names of their runs."""
    collected: list[tuple[Facts, Rows]] = []

    @settings(
        max_examples=number,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(histories())
    def collect(history: tuple[Facts, Rows]) -> None:
        facts, rows = history
        collected.append((replace(facts, run=f"run {len(collected)}"), rows))

    collect()
    return collected
