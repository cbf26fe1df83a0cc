"""What a newcomer gets wrong: each message says what is wrong and where, what was expected, and
what to do."""

from pathlib import Path

import pytest

from harness.cli import main

PATH = "what to do: check the path"
MIRRORED = ("run", "master-crash", "--system", "reference-mirrored")


@pytest.mark.parametrize(
    ("words", "wrong", "expected", "to_do"),
    [
        (
            ("run", "master-crsh"),
            "SCENARIO: there is no scenario 'master-crsh'; did you mean 'master-crash'?",
            "valid: ",
            "what to do: `mqproof list scenarios` describes each",
        ),
        (
            ("run", "master-crash", "--system", "kafka"),
            "--system: there is no system 'kafka'",
            "valid: rabbitmq-mirrored | ",
            "what to do: `mqproof list systems` describes each",
        ),
        (
            (*MIRRORED, "--layout", "nope"),
            "--layout: there is no layout 'nope'",
            "valid: all-automatic@T=10 | ",
            "what to do: `mqproof list layouts` describes each",
        ),
        (
            (*MIRRORED, "--client", "pikaa"),
            "--client: there is no client 'pikaa'; did you mean 'pika'?",
            "valid: pika",
            "what to do: `mqproof list clients` describes each",
        ),
        (
            (*MIRRORED, "--client", "pika+heartbeat=10"),
            "--client: 'pika+heartbeat=10': option 'heartbeat' is unknown for client 'pika'",
            "expected: no option: this client takes none in its name",
            "what to do: leave the option out, or see docs/clients.md",
        ),
        (
            ("run", "master-crash", "--system", "rabbitmq-quorum", "--version", "4.0.4"),
            "--version: no image of rabbitmq-quorum is known in version '4.0.4'; did you mean",
            "valid: 3.10.8 | 3.8.9 | 4.0.5 | 4.3.x",
            "what to do: another version needs an image of it: `--image rabbitmq=IMAGE`",
        ),
        (
            ("run", "master-crash", "--system", "rabbitmq-quorum", "--image", "rabbitmq="),
            "--image: 'rabbitmq=' names no image",
            "expected: PRODUCT=IMAGE, where PRODUCT is rabbitmq",
            "what to do: see docs/systems.md",
        ),
        (
            ("run", "./none.toml"),
            "./none.toml: cannot be read: No such file or directory",
            "expected: a scenario file",
            f"{PATH}; a relative path begins in the current folder; `mqproof new scenario NAME`",
        ),
        (
            (*MIRRORED, "--layout", "./none.toml"),
            "--layout: there is no layout file ./none.toml",
            "expected: the TOML file of a layout, or a name of `mqproof list layouts`",
            PATH,
        ),
        (
            ("analyse", "nowhere"),
            "DIR: there is no folder nowhere",
            "expected: the folder of an experiment",
            f"{PATH}; `mqproof run` writes experiments below results/",
        ),
        (
            ("serve", "nowhere"),
            "DIR: there is no folder nowhere",
            "expected: a results folder",
            "`mqproof run` and `mqproof nightly` write one",
        ),
        (
            ("judge", "none.json"),
            "none.json: cannot be read: No such file or directory",
            "expected: a history: JSON of mqproof, EDN of Jepsen or TSV of OpenChaos",
            "`mqproof judge --help` describes the formats",
        ),
        (
            ("compare", "gone", "gone"),
            "gone: cannot be read: No such file or directory",
            "expected: the verdict.json of an experiment, or the experiment's folder",
            "`mqproof run` writes experiments below results/",
        ),
        (
            ("nightly", "none.toml"),
            "SUITE: none.toml: cannot be read: No such file or directory",
            "expected: a suite of cells, a TOML file",
            "examples/nightly/suite.toml is a suite to copy",
        ),
    ],
)
def test_a_mistake_says_what_was_expected_and_what_to_do(
    words: tuple[str, ...],
    wrong: str,
    expected: str,
    to_do: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(list(words)) == 254
    said = capsys.readouterr().err
    where = [said.find(part) for part in (wrong, expected, to_do)]
    assert -1 not in where, said
    assert where == sorted(where), "what is wrong, what was expected, what to do"
    assert not list(tmp_path.iterdir()), "nothing was started"
