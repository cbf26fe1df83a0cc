"""Claims files of other packages: what is used of them, and why another is not."""

from pathlib import Path

import pytest

from harness.claims.claims import shipped
from harness.cli import main
from harness.judging import brought_claims
from harness.judging.brought_claims import ClaimsOffer, read
from harness.outside.installed import Offer
from harness.pipeline.port import Pipeline

ARTICLE = """[[article]]
name = "acme/guide"
title = "Acme's guide"
"""
CLAIM = """[[claim]]
name = "acme-keeps-all"
sentence = "Acme keeps everything."
source = "acme/guide"
section = "Safety"
quantifier = "all"
predicate = ["lost == 0"]
"""


def offer(folder: Path, text: str, name: str = "acme") -> Offer:
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return Offer(name, f"{name} 1.2", ClaimsOffer(name=name, file=lambda: file))


def test_claims_of_a_package_come_with_their_sources(tmp_path: Path) -> None:
    found = read([offer(tmp_path, ARTICLE + CLAIM)])
    assert [(one.name, one.source) for one in found.claims] == [
        ("acme-keeps-all", "acme/guide, Safety")
    ]
    assert [one.title for one in found.articles] == ["Acme's guide"]
    assert (found.packages, found.spoilt) == ({"acme": "acme 1.2"}, {})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[[claim", "this is not TOML"),
        (CLAIM, "acme/guide"),  # no article of that name
        (ARTICLE + CLAIM.replace("lost ==", "losst =="), "there is no fact 'losst'"),
        (
            ARTICLE + CLAIM.replace("lost == 0", "fault_kind == kil"),
            "'kil' is no value of this fact; did you mean 'kill'?",
        ),
        (
            ARTICLE + CLAIM.replace("acme-keeps-all", shipped()[0].name),
            f"the claim {shipped()[0].name!r} is there already",
        ),
    ],
)
def test_a_wrong_file_is_not_used_and_others_still_count(
    tmp_path: Path, text: str, wrong: str
) -> None:
    right = ARTICLE + CLAIM.replace("acme-keeps-all", "other-keeps-all")
    found = read([offer(tmp_path, text), offer(tmp_path, right, "other")])
    assert [one.name for one in found.claims] == ["other-keeps-all"]
    ((name, why),) = found.spoilt.items()
    assert name == "acme"
    assert wrong in why
    (problem,) = found.problems
    assert wrong in str(problem)
    assert problem.place.startswith(str(tmp_path / "acme.toml"))
    assert problem.advice


def test_two_packages_cannot_bring_one_claim(tmp_path: Path) -> None:
    text = ARTICLE + CLAIM
    found = read([offer(tmp_path, text), offer(tmp_path, text, "other")])
    assert [one.name for one in found.claims] == ["acme-keeps-all"]
    assert "'acme-keeps-all' is there already" in found.spoilt["other"]


def test_a_file_that_is_missing_is_reported(tmp_path: Path) -> None:
    gone = ClaimsOffer(name="acme", file=lambda: tmp_path / "gone.toml")
    found = read([Offer("acme", "acme 1.2", gone)])
    assert "gone.toml" in found.spoilt["acme"]


def _no_pipeline() -> Pipeline:
    raise AssertionError("nothing starts with claims that cannot be read")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "master-crash", "--system", "reference-mirrored", "--dry-run"),
        ("demo",),
        ("analyse", "gone"),
        ("judge", "gone.json"),
        ("nightly", "suite.toml"),
        ("list", "claims"),
    ],
)
def test_claims_that_cannot_be_read_stop_every_judge(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    suite = Path(__file__).parents[3] / "examples/nightly/suite.toml"
    (tmp_path / "suite.toml").write_text(suite.read_text())
    wrong = CLAIM.replace("lost ==", "losst ==") + 'precondition = ["fault_kind == kil"]\n'
    found = read([offer(tmp_path, ARTICLE + wrong)])
    monkeypatch.setattr(brought_claims, "registry", lambda: found)
    assert main(words, _no_pipeline) == 254
    said = capsys.readouterr().err
    for problem in ("there is no fact 'losst'; did you mean 'lost'?", "did you mean 'kill'?"):
        assert problem in said
    assert "acme.toml, line 10, [[claim]] 1, predicate, number 1: " in said
    assert "acme.toml, line 11, [[claim]] 1, precondition, number 1: " in said
    assert "what to do: mend the claims file" in said
