"""Claims of other packages: a claims file each, offered by the entry point group `mqproof.claims`.

1. They are judged in every run, as ours are: their preconditions say where they apply.
2. A file that is wrong stops every command that judges, with all that is wrong in it: without its
   claims a gate would pass that should not. `mqproof doctor` says why, too.
3. A claim's name is its own: one that we or another package have spoils the file.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from harness.claims.articles import Article
from harness.claims.claims import Beside, Claim, read_beside, read_claims, shipped, shipped_beside
from harness.judging import known_facts
from harness.outside.installed import Offer, offered, sorted_out
from harness.plan.facts import Fact
from harness.plan.problems import PlanError, Problem

GROUP = "mqproof.claims"
_ADVICE = "mend the claims file, or uninstall its package; `mqproof doctor` checks it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsOffer:
    """A claims file of a package: the shape of harness/claims/claims.toml."""

    name: str
    file: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class BroughtClaims:
    """`packages`: whose each file is; `spoilt`: why an offer is not used; `problems`: the same,
    one by one."""

    claims: tuple[Claim, ...]
    articles: tuple[Article, ...]
    packages: Mapping[str, str]
    spoilt: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


def every() -> tuple[Claim, ...]:
    """Return mqproof's own claims, and those of other packages. Raise PlanError if some of these
    cannot be read."""
    if found := problems():
        raise PlanError(found)
    return (*shipped(), *registry().claims)


def problems() -> tuple[Problem, ...]:
    """Return what is wrong with claims files of packages, each with what to do."""
    return registry().problems


def articles() -> tuple[Article, ...]:
    return (*shipped_beside().articles, *registry().articles)


@cache
def registry() -> BroughtClaims:
    return read(offered(GROUP), known_facts.brought())


def read(
    offers: Iterable[Offer], brought: Mapping[str, Fact] = MappingProxyType({})
) -> BroughtClaims:
    """Return the claims of all offers that are right. `brought`: the facts of packages."""
    taken = {claim.name for claim in shipped()}
    wrong: dict[str, list[Problem]] = {}

    def mistakes(offer: ClaimsOffer) -> Iterator[str]:
        wrong[offer.name] = [*_problems(offer, brought, taken)]
        yield from map(str, wrong[offer.name])

    known, packages, spoilt = sorted_out(offers, "claims file", ClaimsOffer, {}, mistakes)
    files = [_read(offer, brought) for offer in known.values()]
    claims = tuple(claim for claims, _ in files for claim in claims)
    articles = tuple(article for _, beside in files for article in beside.articles)
    found = (
        replace(one, advice=one.advice or _ADVICE)
        for name, why in spoilt.items()
        for one in wrong.get(name) or [Problem("", why)]
    )
    return BroughtClaims(claims, articles, packages, spoilt, tuple(found))


def _problems(
    offer: ClaimsOffer, brought: Mapping[str, Fact], taken: set[str]
) -> Iterator[Problem]:
    """Yield what is wrong with a file. `taken`: names of claims, which its own are added to."""
    place = f"claims file {offer.name!r}"
    try:
        place = str(offer.file())
        claims, _ = _read(offer, brought, taken)
    except PlanError as error:
        yield from error.problems
        return
    except Exception as error:  # the package's own function may raise anything
        yield Problem(place, f"cannot be read: {type(error).__name__}: {error}")
        return
    taken.update(claim.name for claim in claims)


def _read(
    offer: ClaimsOffer, brought: Mapping[str, Fact], taken: Collection[str] = ()
) -> tuple[tuple[Claim, ...], Beside]:
    """Raises PlanError, OSError, ValueError."""
    path = offer.file()
    text = path.read_text(encoding="utf-8")
    return read_claims(text, str(path), brought, taken), read_beside(text)
