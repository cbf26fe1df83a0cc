"""What code, plans and pages cite is there: no citation leads nowhere."""

import tomllib
from pathlib import Path

import pytest

from tests.docs.citations import Tree, articles, references

ROOT = Path(__file__).parents[2]
PAGE = """\
# A page

## 1. First

- **4.** an item
- **7.** another

### 1.2 Its second part

## Check the instrument

<a id="stretch"></a>
"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A repository with one page, one module and one article."""
    (tmp_path / "docs" / "behaviour").mkdir(parents=True)
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    (tmp_path / "PLAN.md").write_text(PAGE)
    (tmp_path / "docs" / "behaviour" / "rabbitmq.md").write_text(PAGE)
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "there.py").write_text("")
    return Tree(tmp_path, frozenset({"001"}))


def dead(tree: Tree, text: str, name: str = "harness/citing.toml") -> list[str]:
    path = tree.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [problem.removeprefix(f"{name}: ") for problem in tree.dead(path)]


def test_everything_that_the_repository_cites_exists() -> None:
    (claims,) = (ROOT / "harness").rglob("claims.toml")
    whole = Tree(ROOT, articles(tomllib.loads(claims.read_text("utf-8"))))
    read = (path for path in whole.files if path != Path(__file__))  # dead ones stand here
    assert [problem for path in read for problem in whole.dead(path)] == []


@pytest.mark.parametrize(
    "text",
    [
        "docs/page.md 1, 1.2",
        "docs/page.md items 4 and 7; section 1.2",
        "docs/page.md 1.2, item 4: 3 of 5",
        "docs/page.md item 4 and 1.2, 32 s later",
        'docs/page.md, "Check the instrument"',
        "docs/page.md#stretch, docs/page.md#12-its-second-part",
        "docs/page.md, of which 9 are told",
        "seeds/001 and harness/there.py, or there.py",
        "harness/STAMP/there.py, results/published/PAGE.md, > made.md",
        "python -m harness.there",
    ],
)
def test_existing_names_may_be_cited(tree: Tree, text: str) -> None:
    tree.names  # noqa: B018 - before the citing file is written
    assert dead(tree, f"# {text}\n") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("docs/page.md 1.3", "docs/page.md has no section 1.3"),
        ("docs/page.md items 4 to 8", "docs/page.md has no item 8"),
        ("docs/page.md section 1.2 and 9.9", "docs/page.md has no section 9.9"),
        ("docs/page.md 1,\n# 2.2", "docs/page.md has no section 2.2"),
        ('docs/page.md, "Elsewhere"', "docs/page.md has no title Elsewhere"),
        ("docs/page.md#strech", "docs/page.md has no anchor #strech"),
        ('PAGE.md, PLAN.md, "Gone"', "PLAN.md has no title Gone"),
        ("docs/gone.md", "docs/gone.md is not there"),
        ("rabbitmq.md", "rabbitmq.md is not there"),
        ("harness/gone.py", "harness/gone.py is not there"),
        ("gone.py", "no file is called gone.py"),
        ("python -m harness.gone", "there is no module harness.gone"),
        ("seeds/009", "seeds/009 is no article of claims.toml"),
    ],
)
def test_a_dead_citation_is_reported_with_its_name(tree: Tree, text: str, problem: str) -> None:
    assert dead(tree, f"# {text}\n") == [problem]


@pytest.mark.parametrize("name", ["DESIGN", "VERDICTS", "STYLE", "FORMAT"])
def test_documents_of_elsewhere_are_cited_nowhere(tree: Tree, name: str) -> None:
    (first, *_) = dead(tree, f"# as {name}.md says\n")
    assert first == f"{name}.md is not in this repository"


def test_only_python_comments_and_docstrings_are_searched_for_citations(
    tree: Tree,
) -> None:
    """Read commands wherever they stand."""
    code = '"""See\ndocs/page.md 8."""\nX = "gone.py"  # docs/page.md item 5\nY = "docs/no.md"\n'
    assert dead(tree, code, "harness/citing.py") == [
        "docs/page.md has no section 8",
        "docs/page.md has no item 5",
        "docs/no.md is not there",
    ]


def test_broker_items_may_be_cited_by_number_in_the_reference(tree: Tree) -> None:
    code = '"""Kept (items 4, 7), lost (item 8)."""\n'
    assert dead(tree, code, "harness/citing.py") == []
    assert dead(tree, code, "reference_impl/citing.py") == [
        "docs/behaviour/rabbitmq.md has no item 8"
    ]


def test_link_leads_to_a_file_and_its_anchor(tree: Tree) -> None:
    text = (
        "[a](page.md) [b](page.md#stretch) [c](https://example.org/x.md) [d](no) [e](page.md#no)"
    )
    assert dead(tree, text, "docs/citing.md") == [
        "the link to no leads nowhere",
        "the link to page.md#no has no such anchor",
    ]


def test_a_number_after_a_comma_belongs_to_the_sentence() -> None:
    assert list(references(", 9 of them")) == []
    assert list(references(", items 48 to 52).")) == [("item", "48"), ("item", "52")]
