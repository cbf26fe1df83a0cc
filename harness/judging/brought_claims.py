"""Claims of other packages: a claims file each, offered by the entry point group `mqproof.claims`.

1. They are judged in every run, as ours are: their preconditions say where they apply.
2. A file that is wrong is not used: `mqproof doctor` says why. Ours and other files still count.
3. A claim's name is its own: one that we or another package have spoils the file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from harness.claims.articles import Article
from harness.claims.claims import Beside, Claim, read_beside, read_claims, shipped, shipped_beside
from harness.judging import known_facts
from harness.outside.installed import Offer, offered, sorted_out
from harness.plan.facts import Fact
from harness.plan.problems import PlanError

GROUP = "mqproof.claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsOffer:
    """A claims file of a package: the shape of harness/claims/claims.toml."""

    name: str
    file: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class BroughtClaims:
    """`packages`: whose each file is; `spoilt`: why an offer is not used."""

    claims: tuple[Claim, ...]
    articles: tuple[Article, ...]
    packages: Mapping[str, str]
    spoilt: Mapping[str, str]


def every() -> tuple[Claim, ...]:
    """Return mqproof's own claims, and those of other packages."""
    return (*shipped(), *registry().claims)


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

    def mistakes(offer: ClaimsOffer) -> Iterator[str]:
        try:
            claims, _ = _read(offer, brought)
        except (PlanError, OSError, ValueError) as error:
            yield str(error)
            return
        names = [claim.name for claim in claims]
        yield from (f"the claim {name!r} is there already" for name in names if name in taken)
        taken.update(names)

    known, packages, spoilt = sorted_out(offers, "claims file", ClaimsOffer, {}, mistakes)
    files = [_read(offer, brought) for offer in known.values()]
    claims = tuple(claim for claims, _ in files for claim in claims)
    articles = tuple(article for _, beside in files for article in beside.articles)
    return BroughtClaims(claims, articles, packages, spoilt)


def _read(offer: ClaimsOffer, brought: Mapping[str, Fact]) -> tuple[tuple[Claim, ...], Beside]:
    """Raises PlanError, OSError, ValueError."""
    path = offer.file()
    text = path.read_text(encoding="utf-8")
    return read_claims(text, path.name, brought), read_beside(text)
