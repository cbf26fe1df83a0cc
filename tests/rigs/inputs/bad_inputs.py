"""Bad inputs for the command line: malformed files and arguments.

1. The same seed makes the same inputs. Each has its kind, so that a count of them says something.
2. A file is a good one with another value, or with some of its text changed.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from harness.report import verdict
from harness.request import run_request, topology_file
from harness.systems.files import compose_folder
from tests.rigs.histories.neutral import document as history
from tests.rigs.histories.theirs import edn, rows
from tests.rigs.inputs.openchaos_lines import lines_of
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import page_of, summed
from tests.rigs.runs.stored import document as stored

TURNED, HALF = "a\u202eb\u200b\u00ad\ufeff\U000e0041c", "a\udcffb"
COMMANDS = "\x1b[2J\x1b]0;mine\x07\r\x00\x7f\x9b"
FORGED = "x\nverdict: passed (exit code 0)"
WORDS = (
    *("", " ", "\n", "-", "--", "@", "*", "a@", "@b", "*@*", "[a-", "..", "/", "/dev/null/x", "~"),
    *("0", "-1", "1e999", "nan", "inf", "9" * 400, "9" * 4000, "9" * 5000, "²", "٣", "0x1", "1_0"),
    *(TURNED, HALF, COMMANDS, FORGED, "'; drop", "${HOME}", "<b>&", "]]>", "%s%n", "{0}"),
    *("a" * 300, "b" * 4000, "c" * 5000, "d" * 1_000_000, "../" * 900, "k=v", "=", "0%", "101%"),
    *(
        "durable=maybe",
        "kill:2",
        "drop:0",
        "drop:nan",
        "\ud800",
        "\U0010ffff",
        "a/b.toml",
        "x.toml",
    ),
)
# As they stand in a file of TOML or JSON alike.
RAW = (
    *("0", "-1", "1", "1.5", "true", '""', '"x"', "[]", "{}", "[[1]]", "9" * 30, "9" * 4000),
    *("9" * 5000, "-" + "9" * 5000, "1e400", "1e-400", '"' + "x" * 100_000 + '"', '"T"'),
    *('"\\u202e\\u200b"', '"\\u001b[2J"', '"a\\nverdict: passed"', '"' + "9" * 5000 + ' s"'),
    *("[" + "1," * 20_000 + "1]", "[" * 10_000, "[" * 40 + "]" * 40, '["x", "x"]', '"1 s"'),
    *('"publisher-' + "9" * 5000 + '"', '"(((("', '"a{99999999999}"', '"(a|b)*["', '"\\\\"'),
)
PIECES = (
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"9" * 5000, b"[" * 10_000),
    *(
        b"{" * 10_000,
        b"(" * 10_000,
        b"#_" * 5000,
        b'"' * 99,
        b"a." * 300,
        b"\t" * 40,
        b"",
        b"null",
    ),
    *(COMMANDS.encode(), TURNED.encode(), FORGED.encode(), b"\n" * 5000, b"\\ud800"),
)
FLAGS = ("--dry-run", "--json", "--keep", "--all", "--explain", "--reseal", "--help")
OPTIONS = (
    *("--system", "--layout", "--client", "--deployment", "--topology", "--repeats", "--bound"),
    *("--seed", "--results", "--judge", "--misbehave", "--declare", "--from", "-o", "--output"),
    *("--nodes", "--port", "--net-ticktime", "--experiment", "--no-such"),
)
COMMANDS_OF_OURS: Mapping[str, tuple[str, ...]] = {
    "run": ("master-crash", "--dry-run"),
    "analyse": ("stored",),
    "compare": ("a.json", "b.json"),
    "judge": ("history.json",),
    "pack": ("stored", "-o", "x.tar.xz"),
    "new": ("scenario", "mine"),
    "list": ("faults",),
    "build": (),
    "doctor": (),
    "demo": (),
    "heal": (),
}


@dataclass(frozen=True, slots=True)
class BadInput:
    """Files to be there, by name, and the words of a command line."""

    kind: str
    files: Mapping[str, bytes]
    words: tuple[str, ...]


def inputs(random: Random, count: int) -> Iterator[BadInput]:
    """So many, of every kind alike."""
    for number in range(count):
        yield _MAKERS[number % len(_MAKERS)](random)


def _words(random: Random) -> BadInput:
    command = random.choice(tuple(COMMANDS_OF_OURS))
    words = [command, *COMMANDS_OF_OURS[command]]
    for _ in range(random.randint(1, 3)):
        word = random.choice(WORDS)
        match random.randrange(5):
            case 0:
                words.insert(random.randint(1, len(words)), word)
            case 1:
                words[-1] = word
            case 2:
                words += [random.choice(OPTIONS), word] * random.randint(1, 2)
            case 3:
                words.append(f"{random.choice(OPTIONS)}={word}")
            case _:
                words += [random.choice(FLAGS)] * 2
    return BadInput("words", {}, tuple(words))


def _scenario(random: Random) -> BadInput:
    source = run_request.scenario_text(random.choice(("master-crash", "add-node", "disk-alarm")))
    files = {"mine.toml": _bad_toml(random, source)}
    return BadInput("scenario", files, ("run", "./mine.toml", "--dry-run"))


def _layout(random: Random) -> BadInput:
    system, name = random.choice(
        (("rabbitmq-mirrored", "exactly-2"), ("rocketmq-2m2s", "separated"))
    )
    source = (compose_folder() / system / "layouts" / f"{name}.toml").read_text()
    files = {"mine.toml": _bad_toml(random, source.replace(f'"{name}"', '"mine"', 1))}
    words = ("run", "master-crash", "--system", system, "--layout", "./mine.toml", "--dry-run")
    return BadInput("layout", files, words)


def _topology(random: Random) -> BadInput:
    files = {"mine.toml": _bad_toml(random, topology_file.example())}
    return BadInput(
        "topology", files, ("run", "master-crash", "--topology", "mine.toml", "--dry-run")
    )


def _verdict(random: Random) -> BadInput:
    good = _good_verdict()
    files = {"a.json": json.dumps(good).encode(), "b.json": _bad_json(random, good)}
    return BadInput("verdict", files, ("compare", "a.json", "b.json"))


@cache
def _good_verdict() -> dict[str, Any]:
    return json.loads(verdict.text(page_of(summed(Story()))))


def _experiment(random: Random) -> BadInput:
    words = random.choice((("analyse", "bad"), ("pack", "bad", "-o", "x.tar.xz")))
    files = {"bad/experiment.json": _bad_json(random, stored("bad"))}
    return BadInput("experiment", files, words)


def _history(random: Random) -> BadInput:
    files = {"h.json": _bad_json(random, history({}))}
    words = ("judge", "h.json", *random.choice(((), ("--explain",), ("--json",))))
    return BadInput("history", files, words)


def _foreign(random: Random) -> BadInput:
    operations = rows([[1, 1, "enqueue", "invoke", "7"], [2, 1, "enqueue", "ok", "7"]])
    form, source = random.choice(
        (("jepsen", edn(operations)), ("openchaos", lines_of(operations)))
    )
    files = {"h": _spoilt(random, source.encode())}
    return BadInput("foreign history", files, ("judge", "h", "--from", form))


def _bad_toml(random: Random, source: str) -> bytes:
    """One value is another, or a key more; or the text is spoilt."""
    if random.random() < 0.2:
        return _spoilt(random, source.encode())
    document = tomllib.loads(source)
    _change(random, document)
    return "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in document.items()).encode()


def _bad_json(random: Random, document: Any) -> bytes:
    copied = json.loads(json.dumps(document))
    if random.random() < 0.2:
        return _spoilt(random, json.dumps(copied).encode())
    _change(random, copied)
    return _json(copied).encode()


@dataclass(frozen=True, slots=True)
class _Raw:
    """A value as it is to stand in the text."""

    text: str


def _change(random: Random, document: dict[str, Any]) -> None:
    """In place: one value somewhere, a key, or very many of them."""
    within: Any = document
    while True:
        inner = within.values() if isinstance(within, dict) else within
        deeper = [one for one in inner if isinstance(one, dict | list) and one]
        if not deeper or random.random() < 0.3:
            break
        within = random.choice(deeper)
    raw = _Raw(random.choice(RAW))
    if isinstance(within, list):
        within[random.randrange(len(within))] = raw
        within += [within[0]] * random.choice((0, 0, 1, 3000 if len(raw.text) < 100 else 2))
        return
    match random.randrange(6):
        case 0:
            del within[random.choice(tuple(within))]
        case 1:
            within[random.choice((TURNED, FORGED, COMMANDS, "x" * 10_000, "", "a.b"))] = raw
        case 2:
            within.update({f"key{number}": 1 for number in range(3000)})
        case _:
            within[random.choice(tuple(within))] = raw


def _toml(value: Any) -> str:
    match value:
        case _Raw():
            return value.text
        case dict():
            return f"{{{', '.join(f'{_key(key)} = {_toml(one)}' for key, one in value.items())}}}"
        case list():
            return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def _key(key: str) -> str:
    return json.dumps(key)


def _json(value: Any) -> str:
    match value:
        case _Raw():
            return value.text
        case dict():
            return f"{{{', '.join(f'{_key(key)}: {_json(one)}' for key, one in value.items())}}}"
        case list():
            return f"[{', '.join(map(_json, value))}]"
    return json.dumps(value)


def _spoilt(random: Random, content: bytes) -> bytes:
    """Some of the text is gone, or something else."""
    at = random.randrange(len(content))
    piece = random.choice(PIECES)
    return content[:at] + piece + content[at + random.randrange(40) :]


_MAKERS = (_words, _scenario, _layout, _topology, _verdict, _experiment, _history, _foreign)
