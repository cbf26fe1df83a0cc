"""A group of CTGMQ to play with: the program, and options that it has not."""

import pytest
import typer

from harness.systems.reference_ctgmq import switched_group_to_play_with


def test_the_options_reach_the_program() -> None:
    command = switched_group_to_play_with(name_servers=2, without=["in-set", "union"])
    words = " ".join(command)
    assert "ctgmq --port 9876 --name-servers 2 --replicas 2 --truncation epochs" in words
    assert "--without=in-set --without=union" in words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"without": ["nothing"]}, "there is no rule nothing; choose from quorum-lease"),
        ({"name_servers": 4}, "4 is none of 1, 2, 3, 5"),
    ],
)
def test_options_that_no_group_has_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(typer.BadParameter, match=said):
        switched_group_to_play_with(**options)  # type: ignore[arg-type]
