"""The single list of features: the broker announces it, refuses the rest, and the docs show it."""

from pathlib import Path

from reference_impl.amqp import handshake
from reference_impl.amqp.rules.features import announced, lines

PAGE = Path(__file__).parents[3] / "docs" / "reference.md"


def test_only_present_features_are_announced() -> None:
    said = handshake.start("ref1").server_properties["capabilities"]
    assert said == dict.fromkeys(announced(), True)
    assert {"publisher_confirms", "basic.nack"} <= set(said)
    assert "direct_reply_to" not in said


def test_the_page_is_what_the_list_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == "".join(f"{line}\n" for line in lines()), "see features.py for the command"
