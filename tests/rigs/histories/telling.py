"""What occurs in findings, as words: by them it is known how rich a history is."""

from collections.abc import Iterator

from spark_analysis.schema import service
from spark_analysis.schema.findings import Findings


def words_of(findings: Findings) -> set[tuple[object, ...]]:
    return {
        *(("count", count.measure, count.detail) for count in findings.counts),
        *(("charge", charge.measure, _number(charge.windows)) for charge in findings.attributions),
        *(("stage", stage.stage, stage.reached) for stage in findings.stages),
        *(("recovered_by", stage.recovered_by) for stage in findings.stages if stage.reached),
        *(("doubt", doubt.scope, doubt.reason) for doubt in findings.doubts),
        *(("silence", "censored", row.silence_censored) for row in findings.availability),
        *(("second", bool(row.missed), bool(row.delivered)) for row in findings.seconds),
        *words_of_service(findings),
    }


def words_of_service(findings: Findings) -> Iterator[tuple[object, ...]]:
    for outage in findings.outages:
        yield "outage", outage.scope, outage.ended
        yield "outage in", _number(outage.windows)
    for row in findings.service:
        promise = row.promise if row.promise in (service.FAULT, service.HEALED) else "declared"
        yield "service", row.scope, promise, row.verdict
    for each in findings.consumption:
        yield "consumption", each.scope, each.resumed
    for hunger in findings.starvation:
        yield "starvation", bool(hunger.window), bool(hunger.place), bool(hunger.longest_ns)
    for span in findings.exposure:
        yield "due in force", bool(span.due)
        yield "sent in force", bool(span.sent)


def _number(windows: str) -> str:
    return "several" if "," in windows else "one" if windows else "none"
