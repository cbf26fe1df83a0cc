"""The user's own claims, from a file of any folder: `--claims FILE`.

1. They are judged beside mqproof's own claims and those of packages; no name may occur twice.
2. The file has the shape of harness/claims/claims.toml. All that is wrong is reported at once.
3. Each claim's source says which file it came from.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.claims.articles import Article, article_of
from harness.claims.claims import Claim, read_beside, read_claims
from harness.judging import brought_claims, known_facts
from harness.judging.result import ClaimsFile
from harness.outside.files import TOML_BYTES_MAX, Unreadable, text_of
from harness.plan.problems import EMPTY, PlanError, Problem, unreadable
from harness.run_folder.claims_copy import FLAG, ClaimsText

_EXPECTED = "a claims file, as in docs/own-claims.md"


@dataclass(frozen=True, slots=True)
class OwnClaims:
    """The claims of one file."""

    copy: ClaimsText
    claims: tuple[Claim, ...]

    @property
    def named(self) -> ClaimsFile:
        """Return the file and the names of its claims, as a report shows them."""
        return ClaimsFile(self.copy.file, tuple(claim.name for claim in self.claims))


def given(word: str | None) -> tuple[OwnClaims | None, tuple[Problem, ...]]:
    """Return the claims of the file that an option names, and what is wrong with it. Claims of
    packages that cannot be read are reported elsewhere."""
    if word is None or brought_claims.problems():
        return None, ()
    if not word:
        return None, (Problem(FLAG, EMPTY),)
    try:
        return parsed(ClaimsText(word, text_of(Path(word), TOML_BYTES_MAX))), ()
    except Unreadable as reason:
        return None, (unreadable(f"{FLAG}: {word}", reason, _EXPECTED),)
    except PlanError as error:
        return None, error.problems


def parsed(copy: ClaimsText) -> OwnClaims:
    """Return the claims of a text. Raise PlanError with everything that is wrong."""
    taken = {claim.name for claim in brought_claims.every()}
    claims = read_claims(copy.text, copy.file, known_facts.brought(), taken)
    articles = {one.name: one for one in read_beside(copy.text).articles}
    return OwnClaims(copy, tuple(_with_source(claim, articles, copy.file) for claim in claims))


def together(copies: Iterable[ClaimsText]) -> tuple[OwnClaims, ...]:
    """Return the claims of several experiments, each file once. Raise PlanError where a claim
    stands in two different files: one report has one claim of a name."""
    files = [parsed(copy) for copy in {one.text: one for one in copies}.values()]
    by_claim: dict[str, str] = {}
    problems = []
    for one in files:
        for name in one.named.claims:
            if name in by_claim:
                text = f"the claim {name!r} stands in {by_claim[name]}, too, and the files differ"
                advice = f"judge all experiments by one file: `{FLAG} FILE`"
                problems.append(Problem(one.copy.file, text, advice=advice))
            by_claim.setdefault(name, one.copy.file)
    if problems:
        raise PlanError(problems)
    return tuple(files)


def every(own: Iterable[OwnClaims]) -> tuple[Claim, ...]:
    """Return all claims that judge: mqproof's own, those of packages, those of files."""
    return (*brought_claims.every(), *(claim for one in own for claim in one.claims))


def _with_source(claim: Claim, articles: dict[str, Article], file: str) -> Claim:
    """Return the claim with a source that needs no list of articles, and names its file."""
    article = articles.get(article_of(claim.source))
    source = claim.source if article is None else article.cited(claim.source)
    return replace(claim, source=f"{source} (claims file {file})")
