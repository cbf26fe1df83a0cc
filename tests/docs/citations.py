"""What texts of this repository cite, and which of it leads nowhere.

1. A citation is a path from the root, or from the citing file's folder; a page below docs/ may be
   followed by sections or items: `docs/verdicts.md 7.1`, `docs/behaviour/rabbitmq.md item 7`.
2. A citation may go on in the next line, so lines are joined, without the marks of comments.
3. Only prose is read of Python: comments and docstrings. What stands in other strings is data, but
   pages below docs/ and modules after `python -m` are looked for there, too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PROSE = {".md", ".toml", ".html", ".css", ".yml", ".yaml", ".java", ".sh", ".j2", ".cfg", ""}
TOPS = ("harness", "faults", "spark_analysis", "reference_impl", "tests", "compose", "docs")
BROKER = "docs/behaviour/rabbitmq.md"  # whose items reference_impl cites by their numbers alone
OF_BROKER = ("reference_impl", "tests/reference_impl")  # and files that name the page
# Documents that were cited once and are in no repository.
ELSEWHERE = re.compile(r"\b(?:VERDICTS|DESIGN|STYLE|FORMAT)\.md|\bspecs/[\w-]+|\.\./shared\b")
IN_WHEELS = frozenset(
    {"harness/compose_files", "harness/compare/measured.toml"}
)  # pyproject.toml puts it there
_PLACEHOLDER = re.compile(r"\bPAGE\b|[A-Z]{2,}(?![\w-]*\.md)|[<>{}*$]|\.\.\.")
_PAGE = re.compile(r"(?<![\w/.#:-])(?<!> )([\w./-]*\w\.md)\b(#[\w-]+)?")
_PATH = re.compile(rf"(?<![\w/.:-])((?:{'|'.join(TOPS)}|results/published|\.ci)/[\w./-]*[\w])")
_NAME = re.compile(r"(?<![\w/.*-])([a-z][a-z_0-9]*\.py)\b")
_MODULE = re.compile(rf"python3? -m ((?:{'|'.join(TOPS)})[\w.]*\w)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ARTICLE = re.compile(r"\bseeds/(\d{3})\b")
_NUMBER = r"\d+(?:\.\d+)*[A-Z]?(?![\w.]*\w)"
_REF = rf'{_NUMBER}|"[^"]+"'  # a title stands for a number; after one it names a row of a table
_FIRST = re.compile(rf"(,)? (?:(items?|sections?) )?({_REF})")
_GOES_ON = r"(?=$|[,;:.)\]\-]| and | to )"  # else a number counts something: `1.2, 32 s later`
_NEXT = re.compile(
    rf"(?:[,;] | and | to |, and |-|; and )(?:(items?|sections?) )?({_NUMBER}){_GOES_ON}"
)
_COMMENTS = re.compile(r'(?m)^[ ]*r?"""((?:[^"]|"(?!""))*)"""|(?:^[ ]*|  )#[ ](.*)$')
_ITEMS = re.compile(r"\(items? (\d+)((?:(?:, | and | to |-)\d+)*)")


@dataclass(frozen=True, slots=True)
class Page:
    """What can be cited of a Markdown page."""

    sections: frozenset[str]
    titles: frozenset[str]
    items: frozenset[str]
    anchors: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Page":
        heads = re.findall(r"(?m)^#+ (.+)$", text)
        numbers = (re.match(r"(\d+(?:\.\d+)*[A-Z]?)[. ]", head) for head in heads)
        ids = re.findall(r'<a id="([^"]+)">', text)
        return cls(
            sections=frozenset(number[1] for number in numbers if number),
            titles=frozenset(heads),
            items=frozenset(re.findall(r"(?m)^- \*\*(\d+)\.\*\*", text)),
            anchors=frozenset((*ids, *map(_slug, heads))),
        )


@dataclass
class Tree:
    """The files of a repository, and what they may cite."""

    root: Path
    articles: frozenset[str] = frozenset()
    _pages: dict[Path, Page] = field(default_factory=dict)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        return tuple(sorted(_walk(self.root)))

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(path.name for path in self.files)

    def page(self, path: Path) -> Page:
        if path not in self._pages:
            self._pages[path] = Page.of(path.read_text("utf-8"))
        return self._pages[path]

    def dead(self, path: Path) -> Iterator[str]:
        """What a file cites that is not there, as sentences."""
        where = path.relative_to(self.root).as_posix()
        whole = path.read_text("utf-8", errors="replace")
        if path.suffix == ".md":
            whole = _LINK.sub("]", whole)  # they are looked at by themselves
        prose = joined(_prose(whole) if path.suffix == ".py" else whole)
        for problem in dict.fromkeys(self._problems(path, prose, joined(whole))):
            yield f"{where}: {problem}"

    def _problems(self, path: Path, prose: str, whole: str) -> Iterator[str]:
        yield from (f"{each[0]} is not in this repository" for each in ELSEWHERE.finditer(whole))
        for found in _PAGE.finditer(prose if path.suffix == ".py" else whole):
            yield from self._of_page(path, found, prose)
        if path.suffix == ".py":
            others = (each for each in _PAGE.finditer(whole) if each[1].startswith("docs/"))
            for found in others:
                yield from self._of_page(path, found, whole)
        yield from self._of_paths(prose)
        for found in _MODULE.finditer(whole):
            if not self._is_module(found[1]):
                yield f"there is no module {found[1]}"
        yield from (
            f"seeds/{each[1]} is no article of claims.toml"
            for each in _ARTICLE.finditer(whole)
            if each[1] not in self.articles
        )
        if path.suffix == ".md":
            yield from self._of_links(path, path.read_text("utf-8"))
        if path.relative_to(self.root).as_posix().startswith(OF_BROKER) or BROKER in prose:
            yield from self._of_items(prose)

    def _of_page(self, path: Path, found: re.Match[str], text: str) -> Iterator[str]:
        cited = found[1]
        if _PLACEHOLDER.search(cited):
            return
        page = self._resolve(path, cited)
        if page is None:
            yield f"{cited} is not there"
            return
        if found[2] and found[2][1:] not in self.page(page).anchors:
            yield f"{cited} has no anchor {found[2]}"
        if page.parent == self.root or "docs" in page.relative_to(self.root).parts:
            for ref in references(text[found.end() :]):
                if not _has(self.page(page), ref):
                    yield f"{cited} has no {' '.join(ref)}"

    def _resolve(self, path: Path, cited: str) -> Path | None:
        places = (self.root, path.parent, self.root / "results" / "published")
        return next((one for at in places if (one := (at / cited).resolve()).is_file()), None)

    def _of_paths(self, prose: str) -> Iterator[str]:
        for found in _PATH.finditer(prose):
            cited = found[1]
            if _PLACEHOLDER.search(cited) or _PLACEHOLDER.match(prose[found.end() :][:3]):
                continue
            there = any((self.root / each).exists() for each in (cited, f"{cited}.py"))
            if not there and cited not in IN_WHEELS:
                yield f"{cited} is not there"
        for found in _NAME.finditer(prose):
            if found[1] not in self.names:
                yield f"no file is called {found[1]}"

    def _is_module(self, name: str) -> bool:
        place = self.root.joinpath(*name.split("."))
        return place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()

    def _of_links(self, path: Path, text: str) -> Iterator[str]:
        for found in _LINK.finditer(text):
            target, _, anchor = found[1].partition("#")
            if "://" in target:
                continue
            place = (path.parent / target).resolve() if target else path
            if not place.exists():
                yield f"the link to {found[1]} leads nowhere"
            elif anchor and anchor not in self.page(place).anchors:
                yield f"the link to {found[1]} has no such anchor"

    def _of_items(self, prose: str) -> Iterator[str]:
        known = self.page(self.root / BROKER).items
        for found in _ITEMS.finditer(prose):
            for number in re.findall(r"\d+", found[0]):
                if number not in known:
                    yield f"{BROKER} has no item {number}"


def references(after: str) -> Iterator[tuple[str, str]]:
    """Kind and name of each section, item or title that a citation goes on with."""
    found = _FIRST.match(after)
    kind = "section"
    # After a comma a number alone belongs to the sentence and not to the citation.
    if found and found[1] and not found[2] and not found[3].startswith('"'):
        return
    while found:
        word, ref = found.groups()[-2:]
        kind = word.rstrip("s") if word else kind
        if ref.startswith('"'):
            yield "title", ref.strip('"')
        else:
            yield ("section" if "." in ref else kind), ref
        after = after[found.end() :]
        found = _NEXT.match(after)


def joined(text: str) -> str:
    """One line, without the marks of comments and without what wraps code."""
    lines = (re.sub(r"^\s*(?:#+|//|\*|\|)?\s*", "", line) for line in text.splitlines())
    return re.sub(r"\s+", " ", " ".join(lines))


def articles(claims: Mapping[str, list[Mapping[str, str]]]) -> frozenset[str]:
    """The numbers of the articles that claims.toml names."""
    return frozenset(each["name"].removeprefix("seeds/") for each in claims["article"])


def _has(page: Page, ref: tuple[str, str]) -> bool:
    kind, name = ref
    kinds = {"section": page.sections, "item": page.items, "title": page.titles}
    return name in kinds[kind]


def _slug(head: str) -> str:
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip())


def _walk(folder: Path) -> Iterator[Path]:
    for each in folder.iterdir():
        hidden = each.name.startswith(".") and each.name != ".ci"
        if hidden or each.name in ("__pycache__", "node_modules") or each.is_symlink():
            continue
        if each.is_dir():
            # Of results only what is published is part of the repository.
            yield from _walk(each / "published" if each.name == "results" else each)
        elif each.suffix == ".py" or each.suffix in PROSE:
            yield each


def _prose(code: str) -> str:
    """Comments and docstrings of Python, by how they stand there: to parse takes longer."""
    return "\n".join(match[1] or match[2] for match in _COMMENTS.finditer(code))
