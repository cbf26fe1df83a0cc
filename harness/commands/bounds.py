"""What a command line may be: how long its words are, and how often an option is said.

Each command's help ends with its exit codes (codes.py).

1. An argument that can be no path and no name is refused before anything reads it.
2. An option with one value may be given once: two values are ambiguous.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperCommand

from harness.commands import codes
from harness.outside.text import brief, cut
from harness.plan.problems import PlanError, Problem

WORD_MAX = 4096  # characters: the longest path
WORDS_MAX = 1000
_SAID_MAX = 2000


class Once(TyperCommand):
    """A command that accepts each option once, except those that are lists."""

    def get_help(self, ctx: Any) -> str:
        """Show the exit codes below the options."""
        self.epilog = codes.epilog(ctx.command_path.partition(" ")[2])
        return super().get_help(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raises PlanError with every option that was said again."""
        *_, order = self.make_parser(ctx).parse_args(args=list(args))
        often = Counter(param for param in order if param.param_type_name == "option")
        again = [
            Problem(max(param.opts, key=len), f"is given {count:,} times; give it once")
            for param, count in often.items()
            if count > 1 and not param.multiple and not param.is_eager  # of --help more is no harm
        ]
        if again:
            raise PlanError(again)
        return super().parse_args(ctx, args)


def problems(words: Sequence[str]) -> Iterator[Problem]:
    """Words that are too long, or too many."""
    if len(words) > WORDS_MAX:
        yield Problem("", f"{len(words):,} words are more than a command has: {WORDS_MAX:,}")
    for number, word in enumerate(words[:WORDS_MAX], start=1):
        if len(word) > WORD_MAX:
            text = f"{brief(word)} is longer than {WORD_MAX:,} characters"
            yield Problem(f"word {number}", text)


def shortened(message: str, words: Sequence[str]) -> str:
    """What was said of a command line, its words cut."""
    parts = {part for word in words for part in (word, *word.partition("="))}
    for part in sorted(parts, key=len, reverse=True):
        if cut(part) != part:
            message = message.replace(repr(part), brief(part)).replace(part, cut(part))
    return cut(message, _SAID_MAX)
