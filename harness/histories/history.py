"""One run from another tool: its facts, its declared promises, and its records.

1. It holds values only. A table is its columns, a column one value a row, in the numbers of the
   record format (words.py): the same as a kernel reads of a sealed run.
2. An omitted value is absent, and so unknown to the judgement.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_analysis.schema.facts import Facts

Cell = int | str | None  # no text is None; nothing else may be
Columns = Mapping[str, list[Cell]]  # by column
FactValue = bool | int | float | str  # a fact of a claim's precondition


@dataclass(frozen=True, slots=True)
class History:
    """One run. `facts.run` is its name."""

    facts: Facts
    declared: Mapping[str, FactValue]
    recorded: Mapping[int, Mapping[str, FactValue]]  # by fault window
    tables: Mapping[str, Columns]
    doubts: tuple[str, ...] = ()  # statements that its format cannot make
    # By producer and sequence: what its file calls the message; none if it has these numbers.
    values_sent: Mapping[tuple[int, int], str] = field(default_factory=dict)
    # How many messages at most its consumers can hold that its records do not show; None: any.
    hides: int | None = None
    # What its format has no field for, and why.
    hidden: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Words:
    """The facts that preconditions may ask for, and the type of each."""

    declared: Mapping[str, type]
    recorded: Mapping[str, type]
