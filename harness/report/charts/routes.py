"""What name servers showed, whom clients asked, and what they believed, as rows along time.

1. What a silent name server would have shown is unknown, and looks like it.
2. What lies outside of the drawing's time is left out: drainers come after the load.
"""

from collections.abc import Iterable

from harness.report.charts.scale import Lane, Scale
from harness.view.routes import RouteRow

NS = 1e9


def lanes(rows: Iterable[RouteRow], scale: Scale) -> Iterable[Lane]:
    for row in rows:
        spans = tuple(
            scale.span(one.from_ns / NS, one.until_ns / NS, one.state, one.text, one.title)
            for one in row.stretches
            if one.from_ns / NS < scale.until_s and one.until_ns / NS > scale.from_s
        )
        if spans:
            yield Lane(row.name, spans)
