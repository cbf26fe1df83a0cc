"""A tool's own verdict beside ours, with the reasons of the differences: one line for each that
applies.

1. The tool's verdict follows its own rules, in its own keys (jepsen_verdict.py,
   openchaos_verdict.py).
2. A reason is reported only if this history shows it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.histories import jepsen_verdict, openchaos_verdict
from harness.histories.rows import DEQUEUE, DRAIN, ENQUEUE, INVOKE, OK, Row

Counts = Mapping[str, int]
_BY_DRAIN = "these checkers leave out what a drain brings; total-queue does not"
_UNSEEN = {  # by checkers that compare each dequeue with the enqueues before it
    "lost": "what never came is no dequeue, so only total-queue looks for it",
    "unexpected": _BY_DRAIN,
    "duplicated": "they leave out what a drain brings, and let each enqueue of a value come once",
    "refused_but_delivered": "for them every enqueue that began may have happened",
}
_VERDICTS: Mapping[str, Callable[[Sequence[Row]], dict[str, Any]]] = {
    "jepsen": jepsen_verdict.verdict,
    "openchaos": openchaos_verdict.verdict,
}


def explained(tool: str, rows: Sequence[Row], counts: Counts) -> dict[str, Any]:
    """Yield the tool's verdict on these rows, and why ours (`counts` by class) differs."""
    theirs = _VERDICTS[tool](rows)
    of_tool = {"jepsen": _jepsen, "openchaos": _openchaos}[tool]
    return {"tool": tool, "says": theirs, "why": [*of_tool(theirs, rows, counts)]}


def _jepsen(theirs: Mapping[str, Any], rows: Sequence[Row], counts: Counts) -> Iterator[str]:
    total, model = theirs["total-queue"], theirs["queue"]
    yield from _loss(total["lost-count"], counts, "lost-count")
    if counts.get("revived"):
        yield (
            f"{counts['revived']:,} messages of unknown outcome came: `revived` here, "
            "`recovered` there"
        )
    if counts.get("refused_but_delivered"):
        yield (
            f"{counts['refused_but_delivered']:,} messages came that had failed, so certainly had "
            "not happened: `refused_but_delivered` here; `recovered` there, and still valid"
        )
    if total["duplicated-count"]:
        yield (
            f"{total['duplicated-count']:,} duplicate deliveries never make their total-queue "
            "invalid; here they are classified by their source, as far as the history shows it"
        )
    if _reused(rows):
        yield (
            f"{_reused(rows):,} values were enqueued more than once: there each attempt may come "
            "once, so a duplicate hides behind it; here they are attempts of one message"
        )
    if total["unexpected-count"]:
        yield "messages that were never sent are `unexpected` on both sides"
    if total["valid?"] == "unknown":
        yield "a drain crashed: they say unknown; here that consumer may hold the missing messages"
    if not model["valid?"] and total["valid?"] is True:
        yield (
            f"their unordered queue breaks at {model['error']}, by the order of the file alone: a "
            "second delivery, or one that is written down before its enqueue; no drain counts"
        )
    yield from _unseen(theirs, counts)
    if not theirs["fifo-queue"]["valid?"] and not counts.get("reordered"):
        yield (
            "their fifo queue breaks at any loss, duplicate or overlap in the order of the file; "
            "here order is that of first deliveries, and a loss is no disorder"
        )


def _unseen(theirs: Mapping[str, Any], counts: Counts) -> Iterator[str]:
    """Yield why checkers that look at dequeues alone say valid, though something was broken."""
    valid = [name for name in ("queue", "fifo-queue") if theirs[name]["valid?"]]
    names = " and ".join(valid)
    for measure, why in _UNSEEN.items():
        if valid and counts.get(measure):
            yield f"{names}: valid, though {counts[measure]:,} are `{measure}` here: {why}"


def _openchaos(theirs: Mapping[str, Any], rows: Sequence[Row], counts: Counts) -> Iterator[str]:
    queue = theirs["queue"]
    yield from _loss(queue["lostMessageCount"], counts, "lostMessageCount")
    surplus = queue["duplicateMessageCount"]
    for measure, what in (
        ("revived", "messages of unknown outcome that came are `revived` here"),
        ("refused_but_delivered", "messages that were refused and came have a class here"),
        ("unexpected", "deliveries of messages never sent are `unexpected` here"),
    ):
        if counts.get(measure) and surplus:
            yield f"{counts[measure]:,} {what}; there every one is a duplicate"
    if counts.get("duplicated"):
        yield (
            f"{counts['duplicated']:,} duplicate deliveries are classified here by their source, "
            "a redelivery apart from a second copy; there all are duplicates, and exactlyOnce "
            "fails"
        )
    if _reused(rows):
        yield (
            f"{_reused(rows):,} values were enqueued more than once: attempts of one message "
            "here; there the later confirm takes the place of the earlier one"
        )
    yield from _order(theirs["order"], rows, counts)
    yield from _outages(theirs)


def _loss(theirs: int, counts: Counts, key: str) -> Iterator[str]:
    ours = counts.get("lost", 0)
    if theirs == ours:
        return
    sentence = f"{key} is {theirs:,}, and {ours:,} are `lost` here"
    unknown, found = counts.get("loss_unknown", 0), counts.get("stranded", 0)
    reasons = []
    if unknown:
        reasons.append(
            f"{unknown:,} are `loss_unknown`, for the history does not show that the queue was "
            "read empty by consumers that lost nothing themselves"
        )
    if found:
        reasons.append(f"{found:,} are `stranded`: an audit found them")
    if counts.get("unreachable"):
        reasons.append(f"{counts['unreachable']:,} are `unreachable`: a place could not be read")
    yield f"{sentence}: {'; '.join(reasons) or 'they count values, and here it is messages'}"


def _order(order: Mapping[str, Any], rows: Sequence[Row], counts: Counts) -> Iterator[str]:
    if order["order"] or counts.get("reordered"):
        return
    value = order["wrongStartValue"]
    came = any(
        value == row.value or value in (row.value or ())
        for row in rows
        if row.ev == OK and (row.f == DRAIN or (row.f == DEQUEUE and row.value == value))
    )
    if came:
        yield (
            f"their order breaks at {value}, which came after a later one in the order of the "
            "file; here order is that of first deliveries, where it was promised and is known"
        )
    else:
        yield f"their order breaks at {value}, which never came: here a loss is no disorder"


def _outages(theirs: Mapping[str, Any]) -> Iterator[str]:
    results = theirs["rto"]["results"]
    seen = any(one["isUnavailableInFaultInterval"] for one in results)
    if seen or theirs["recovery"]["results"]:
        yield (
            "their outages end with one success, even of a request that began before; here one "
            "ends when success is sustained, and only what had an intended time can be judged"
        )
    if any(one["endTimestamp"] and not one["isUnavailableInFaultInterval"] for one in results):
        yield (
            "their RTO takes an outage of one fault over into the next, where rtoTime is then a "
            "time of day"
        )


def _reused(rows: Sequence[Row]) -> int:
    """Values that were enqueued more than once."""
    often = Counter(row.value for row in rows if (row.f, row.ev) == (ENQUEUE, INVOKE))
    return sum(1 for times in often.values() if times > 1)
