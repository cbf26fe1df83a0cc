"""docs/glossary.md defines each word once, where a citation finds it."""

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text("utf-8")
WORDS = re.findall(r'(?m)^- <a id="([\w-]+)"></a>\*\*([^*]+)\*\*: ', TEXT)


def test_every_line_defines_one_word_by_its_own_anchor() -> None:
    assert len(WORDS) == len(re.findall(r"(?m)^- ", TEXT))
    assert [anchor for anchor, _ in WORDS] == [word.replace(" ", "-") for _, word in WORDS]


def test_words_stand_in_order_and_none_twice() -> None:
    words = [word.lower() for _, word in WORDS]
    assert words == sorted(set(words))
