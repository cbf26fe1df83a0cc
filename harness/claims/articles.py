"""The contents of claims.toml beside the claims that a single run shows: articles, and the rest.

1. A source is an article's name; a property that an article does not state is empty.
2. Comparisons (compared.py) are of layouts beside each other. A sentence that is not judged has
   its reason.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Words = Annotated[str, Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


_SECTION = ", "  # between an article's name and its section, in a source


def article_of(source: str) -> str:
    """Return the name of the article of a source: `seeds/003`."""
    return source.partition(_SECTION)[0]


class Article(_Table):
    """The source of a claim. `published` and the addresses are those that the article states."""

    name: _Words  # "seeds/003"
    title: _Words
    author: str = ""
    published: str = ""
    url: str = ""  # "": the article does not tell its own
    translates: str = ""

    @property
    def title_line(self) -> str:
        """Title, author and date, without an address."""
        return ", ".join(word for word in (self.title, self.author, self.published) if word)

    def cited(self, source: str) -> str:
        """Return the source `NAME, SECTION` as `“TITLE”, AUTHOR, DATE, section “SECTION”`. A
        reader of a report has no file of that name."""
        beside = ", ".join(word for word in (self.author, self.published) if word)
        section = source.partition(_SECTION)[2]
        parts = (f"“{self.title}”", beside, f"section “{section}”" if section else "")
        return ", ".join(part for part in parts if part)

    def __str__(self) -> str:
        translates = f"translates {self.translates}" if self.translates else ""
        return ", ".join(word for word in (self.title_line, self.url, translates) if word)


class _Quoted(_Table):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    sentence: _Words
    meaning: _Words
    source: _Words
    section: str = ""

    @property
    def place(self) -> str:
        return f"{self.source}{_SECTION}{self.section}" if self.section else self.source


class Compared(_Quoted):
    """A claim about layouts beside each other, in one scenario."""

    scenario: _Words
    measure: _Words
    falls_over: Annotated[list[str], Field(min_length=2)]  # layouts: each has less than the last


class Unjudged(_Quoted):
    """A claim that no run judges."""

    why: _Words
