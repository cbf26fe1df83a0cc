"""docs/glossary.md defines each word once, where a citation finds it."""

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text("utf-8")
ROW = r'(?m)^\| <a id="([\w-]+)"></a>\*\*([^*|]+)\*\* \| [^|\n]+ \| [^|\n]+ \|$'
WORDS = re.findall(ROW, TEXT)


def test_every_row_defines_one_term_and_names_it_elsewhere() -> None:
    assert len(WORDS) == len(re.findall(r"(?m)^\| <a ", TEXT))
    assert [anchor for anchor, _ in WORDS] == [word.replace(" ", "-") for _, word in WORDS]


def test_words_stand_in_order_and_none_twice() -> None:
    words = [word.lower() for _, word in WORDS]
    assert words == sorted(set(words))
