"""docs/own-claims.md: its file judges by itself, and in a package of claims."""

import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from harness.claims.claims import Claim
from harness.claims.judge import ClaimOutcome
from harness.judging import own_claims
from harness.judging.brought_claims import GROUP, BroughtClaims, read
from harness.outside.installed import Offer
from harness.plan.vocabulary import FACTS
from harness.run_folder.claims_copy import ClaimsText
from tests.rigs.runs.findings import Story, verdicts_of

PAGE = (Path(__file__).parents[2] / "docs" / "own-claims.md").read_text(encoding="utf-8")
FILES = re.compile(r"^`our-claims/(\S+)`.*?^```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
(CLAIMS,) = re.findall(r"^## The file$.*?^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(COPY,) = re.findall(r"to `our-claims/(\S+\.toml)`", PAGE)


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BroughtClaims:
    """The claims of the page's files, offered as its pyproject.toml says."""
    for name, text in [(COPY, CLAIMS), *FILES.findall(PAGE)]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, place),) = project["entry-points"][GROUP].items()
    module, _, thing = place.partition(":")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, module, raising=False)
    return read([Offer(name, project["name"], getattr(import_module(module), thing))])


def outcomes(claims: tuple[Claim, ...], story: Story) -> list[ClaimOutcome]:
    return [one.outcome for one in verdicts_of(claims, story.evidence)]


def test_the_pages_claims_are_judged(brought: BroughtClaims) -> None:
    assert brought.problems == ()
    soon, late = (Story().stage("sustained_success", after) for after in (3.0, 25.0))
    late.count("lost", "replicated", 3)
    assert outcomes(brought.claims, soon) == [ClaimOutcome.PASS] * 2
    assert outcomes(brought.claims, late) == [ClaimOutcome.FAIL] * 2


def test_the_pages_claims_judge_as_a_file() -> None:
    own = own_claims.parsed(ClaimsText("our-claims.toml", CLAIMS))
    late = Story().stage("sustained_success", 25.0)
    assert outcomes(own.claims, late) == [ClaimOutcome.FAIL, ClaimOutcome.PASS]


def test_every_fact_of_the_pages_table_exists() -> None:
    named = re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE)
    assert len(named) == 6
    assert set(named) <= FACTS.keys()
