"""The documented tables of clients are those that plans are judged by."""

from dataclasses import replace
from pathlib import Path

from harness.plan.clients.registry import OURS
from harness.plan.clients.requirements import chosen_client
from tests.rigs.pages.client_matrix import page

DOCUMENT = Path(__file__).parents[2] / "docs" / "clients.md"


def test_the_page_is_as_it_would_be_made_today() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == page(OURS.values()), "see its head for the command that makes it again"


def test_every_client_is_in_exactly_its_familys_table() -> None:
    tables = page(OURS.values()).split("\n## ")[1:]
    shown = {table.partition("\n")[0]: table for table in tables}
    assert shown.keys() == {client.family.name for client in OURS.values()}
    for client in OURS.values():
        where = [family for family, table in shown.items() if f"| `{client.name}` |" in table]
        assert where == [client.family.name]


def test_new_client_family_gets_a_table_without_changes_here() -> None:
    family = replace(OURS["pika"].family, name="Acme's own")
    client = replace(OURS["pika"], name="acme", family=family)
    assert "\n## Acme's own\n" in page([*OURS.values(), client])


def test_every_obstacle_is_reported_and_no_possible_action_is_one() -> None:
    assert chosen_client("rocketmq-java-4.9.8").obstacles(["transaction", "pull", "async"]) == []
    reasons = chosen_client("rocketmq-native").obstacles(["transaction", "async", "pull"])
    assert [reason.split(":")[0] for reason in reasons] == [
        "rocketmq-native cannot do transaction",
        "rocketmq-native cannot do pull",
    ]
