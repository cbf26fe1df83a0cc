"""Files of Jepsen and OpenChaos by hand, and what must be said of each.

1. Jepsen: one operation a line; 10 ms lie between two. OpenChaos: the same with columns.
2. A case names every count above zero, every claim that FAILs and every one that PASSes.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from harness.analyse.history import evidence
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome, judge
from harness.histories import jepsen, openchaos
from harness.histories.history import History
from harness.histories.rows import history

_CLASSES = (
    "lost",
    "loss_unknown",
    "attempt_lost",
    "attempt_open",
    "lost_indeterminate",
    "revived",
    "refused_but_delivered",
    "unexpected",
    "unrecorded",
    "duplicated",
)
_KEPT = {"durable": True, "persistent": True, "no_ack": False}
DRAINED = "9 invoke drain\n9 ok drain []"


@dataclass(frozen=True)
class ForeignCase:
    """A file, and what must be said of it. `error`: what stops it."""

    make: Callable[[], str]
    tool: str
    fails: str
    passes: str
    error: str
    counts: dict[str, int]

    def __str__(self) -> str:
        return self.make.__name__

    def history(self) -> History:
        text = self.make()
        if self.tool == "openchaos":
            read = history("h", openchaos.parse(text, "h"), openchaos.FORM)
        else:
            read = history("h", jepsen.parse(text, "h"), jepsen.FORM)
        return replace(read, declared={**read.declared, **_KEPT, "masters": 1})

    def differences(self) -> Iterator[str]:
        found = evidence(self.history(), "h")
        counts = Counter[str]()
        for row in found.findings.counts:
            if row.measure in _CLASSES:
                counts[f"{row.measure} {row.detail}".strip()] += row.count
        if counts != self.counts:
            yield f"it counts {dict(counts)}"
        verdicts = {claim.name: judge(claim, found) for claim in shipped()}
        for outcome, wanted in (
            (ClaimOutcome.FAIL, self.fails),
            (ClaimOutcome.PASS, self.passes),
        ):
            names = {it.claim for it in verdicts.values() if it.outcome is outcome}
            if names != {*wanted.split()}:
                yield f"{outcome} of {sorted(names)}"


class ForeignCases(list[ForeignCase]):
    """The cases of one module, in its order."""

    def case(
        self,
        fails: str = "",
        passes: str = "",
        *,
        error: str = "",
        tool: str = "jepsen",
        **counts: int,
    ) -> Callable[[Callable[[], str]], Callable[[], str]]:
        """Add a case. A `__` in the name of a count stands for the space before a detail."""

        def added(make: Callable[[], str]) -> Callable[[], str]:
            named = {name.replace("__", " "): number for name, number in counts.items()}
            self.append(ForeignCase(make, tool, fails, passes, error, named))
            return make

        return added


def ops(*lines: str) -> str:
    """One operation a line: process, type, operation, value (`nil`); 10 ms lie between two."""
    listed = [line for text in lines for line in text.splitlines()]
    return "".join(
        _operation(number, *line.split(maxsplit=3)) for number, line in enumerate(listed)
    )


def _operation(number: int, process: str, kind: str, f: str, value: str = "nil") -> str:
    return (
        f"{{:process {process}, :type :{kind}, :f :{f}, :value {value}, "
        f":time {number * 10_000_000}, :index {number}}}\n"
    )


def sent(*values: object, process: int = 0) -> str:
    """These values are enqueued, and each is ok."""
    return "\n".join(
        f"{process} invoke enqueue {value}\n{process} ok enqueue {value}" for value in values
    )


def taken(*values: object, process: int = 1) -> str:
    return "\n".join(f"{process} invoke dequeue\n{process} ok dequeue {it}" for it in values)


def without(text: str, *numbers: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for number, line in enumerate(lines) if number not in numbers)


def lines(*rows: str) -> str:
    """Lines with their columns between spaces; 10 ms lie between two. `>`: a request."""
    return "".join(_line(1_000 + number * 10, *row.split()) for number, row in enumerate(rows))


def _line(at_ms: int, client: str, f: str, result: str, value: str = "null") -> str:
    if result == ">":
        columns = [client, f, "REQUEST", value, "null", f"{at_ms}", "null"]
    else:
        columns = [client, f, "RESPONSE", result, value, "null", f"{at_ms}", "10", "null", "0"]
    return "\t".join(columns) + "\n"
