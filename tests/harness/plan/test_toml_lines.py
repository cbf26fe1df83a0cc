"""Where a key stands in a TOML text: what an error says of the line, and of what is around it."""

import pytest

from harness.plan.files.toml_lines import Path, describe, line, line_numbers

TEXT = """\
title = "t"
hosts = [
    { name = "a" },
]

[[broker]]
host = "a"
[broker.kill]
deadline = "1 s"

[[broker]]
host = "b"
[broker.kill]  # of b
deadline = "2 s"
[broker."odd.name"]
do.it = 1

[profiles."T=1.5"]
detection_timeout_s = 1.5

[[policies]]
[policies.definition]
ha-mode = "all"
[[policies.rule]]
[[policies.rule]]
key = 1
"""


@pytest.mark.parametrize(
    ("path", "number"),
    [
        (("title",), 1),
        (("hosts", 0, "name"), 2),
        (("broker",), 6),
        (("broker", 0, "host"), 7),
        (("broker", 0, "kill", "deadline"), 9),
        (("broker", 1, "kill"), 13),
        (("broker", 1, "kill", "deadline"), 14),
        (("broker", 1, "kill", "verify"), 13),
        (("broker", 1, "odd.name", "do", "it"), 16),
        (("broker", 1, "freeze"), 11),
        (("profiles", "T=1.5", "detection_timeout_s"), 19),
        (("policies", 0, "definition", "ha-mode"), 23),
        (("policies", 0, "rule", 1, "key"), 26),
        (("colour",), 0),
    ],
)
def test_path_has_its_own_line_or_that_of_its_table(path: Path, number: int) -> None:
    assert line(path, line_numbers(TEXT)) == number


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("broker", 1, "kill", "deadline"), "f, line 14, [[broker]] 2, kill, deadline"),
        (
            ("profiles", "T=1.5", "detection_timeout_s"),
            "f, line 19, [profiles.T=1.5], detection_timeout_s",
        ),
        (("broker", 0, "amqp", 1), "f, line 6, [[broker]] 1, amqp, number 2"),
        (("colour",), "f, colour"),
    ],
)
def test_a_place_is_reported_as_it_is_written(path: Path, words: str) -> None:
    assert describe(path, line_numbers(TEXT), "f") == words
