"""One run that somebody tells us of: its facts, what was promised, and its records.

1. Values only. A table is its columns, a column one value a row, in the numbers of the record
   format (words.py): what a kernel reads of a sealed run stands here, too.
2. What is not told is not here, and so unknown to whoever judges.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_analysis.schema.facts import Facts

Cell = int | str | None  # no text is None; nothing else may be
Columns = Mapping[str, list[Cell]]  # by column
Told = bool | int | float | str  # a fact of a claim's precondition


@dataclass(frozen=True, slots=True)
class History:
    """One run. `facts.run` is its name."""

    facts: Facts
    declared: Mapping[str, Told]
    recorded: Mapping[int, Mapping[str, Told]]  # by fault window
    tables: Mapping[str, Columns]
    doubts: tuple[str, ...] = ()  # what the form that it was told in cannot say
    untold: Mapping[str, str] = field(default_factory=dict)  # counts that it hides, and why


@dataclass(frozen=True, slots=True)
class Words:
    """The facts that preconditions may ask for, and the type of each."""

    declared: Mapping[str, type]
    recorded: Mapping[str, type]
