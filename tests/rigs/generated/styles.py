"""What kinds of runs are generated: chosen by Hypothesis.

1. Most are short, with a few messages on which much goes wrong; the others are long enough that
   service is a history: it is lost and comes back, once or again and again.
"""

from hypothesis import strategies as st

from tests.rigs.generated.facts import MS, SECOND, Style

_OPERATIONS_MAX = 3_000
_LOADS_S = {"short": (1, 20), "stretch": (8, 10), "spells": (16, 32)}
# Operations a second: 40 are just enough for a stretch of the run, 10 for one of a queue.
_RATES = {"stretch": [40, 50], "spells": [5, 10, 10, 20, 40, 40, 40, 50, 50, 60, 200]}


@st.composite
def styles(draw: st.DrawFn) -> Style:
    """What kind of run it will be."""
    length = draw(st.sampled_from(["short"] * 14 + ["stretch", "stretch", *["spells"] * 4]))
    # A whole number of operations in 5 s, so that a stretch may end just as the load does.
    rate = draw(st.sampled_from(_RATES.get(length, [0])))
    load_s = min(draw(st.integers(*_LOADS_S[length])), _OPERATIONS_MAX // max(rate, 1))
    stretch = length != "short"
    return Style(
        seed=draw(st.integers(0, 2**32)),
        messages=load_s * rate if stretch else draw(st.integers(0, 20)),
        stretch=stretch,
        spells=length == "spells",
        grain_ns=draw(st.sampled_from([1, MS, 10 * MS, 500 * MS, SECOND])),
        load_s=load_s,
        windows=draw(st.sampled_from([0, 1, 1, 2, 3])),
        paced=draw(st.sampled_from([True] * (15 if stretch else 5) + [False])),
        confirms=draw(st.sampled_from([True] * (15 if stretch else 7) + [False])),
        calm=draw(st.sampled_from([True, True, False] if stretch else [True, False, False])),
        flagged=draw(st.sampled_from([0, 50, 100])),
        offsets=draw(st.sampled_from([False] * 4 + [True])),
        logs_closed=draw(st.sampled_from([100, 100, 60])),
        drained=draw(st.sampled_from([100, 90, 50])),
    )
