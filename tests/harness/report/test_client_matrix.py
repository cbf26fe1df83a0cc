"""The documented table of RocketMQ's clients is the one that plans are judged by."""

from pathlib import Path

from harness.plan.clients.asked import obstacles
from harness.report.client_matrix import lines

DOCUMENT = Path(__file__).parents[3] / "compose" / "rocketmq-java" / "CLIENTS.md"


def test_the_document_holds_the_table_as_it_is() -> None:
    table = "\n".join(lines())
    assert table in DOCUMENT.read_text(), "run `python -m harness.report.client_matrix`"


def test_every_obstacle_is_told_and_what_can_be_done_is_none() -> None:
    assert obstacles("rocketmq-java-4.9.8", ["transaction", "pull", "async"]) == []
    reasons = obstacles("rocketmq-native", ["transaction", "async", "pull"])
    assert [reason.split(":")[0] for reason in reasons] == [
        "rocketmq-native cannot do transaction",
        "rocketmq-native cannot do pull",
    ]
