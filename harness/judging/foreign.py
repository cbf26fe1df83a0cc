"""A history of anybody's with what was found of it: its verdicts, and other tools' beside them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.claims.evidence import Evidence
from harness.claims.judge import ClaimVerdict
from harness.histories.history import History


@dataclass(frozen=True, slots=True)
class JudgedHistory:
    """One history, and what was found of it. `theirs`: what other tools say of it, and why."""

    file: str
    history: History
    evidence: Evidence
    verdicts: tuple[ClaimVerdict, ...]
    theirs: tuple[Mapping[str, Any], ...]
    untold: bool  # the promises of this broker are not declared

    @property
    def counts(self) -> Counter[str]:
        """Return the counts by class, over all windows."""
        found: Counter[str] = Counter()
        for row in self.evidence.findings.counts:
            found[row.measure] += row.count
        return found
