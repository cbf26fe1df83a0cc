"""The reader of EDN."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.histories.edn import BadEdn, Word, read_all, written


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("1 -2 3N +4", [1, -2, 3, 4]),
        ("1.5 2M 1e3", [1.5, 2.0, 1000.0]),
        (r'"\ud83d\ude00"', ["😀"]),
        ("nil true false", [None, True, False]),
        (r'"a\"b\n\u0041" \a \newline', ['a"b\nA', Word("\\a"), Word("\\newline")]),
        (":ok foo/bar", [Word(":ok"), Word("foo/bar")]),
        ("[1, (2 3)] #{4}", [(1, (2, 3)), (4,)]),
        ("{:a 1, [2] {}}", [{Word(":a"): 1, (2,): {}}]),
        ("#jepsen.history.Op{:index 0}", [{Word(":index"): 0}]),
        ('#inst "2020" [#foo/bar 1]', ["2020", (1,)]),
        ("; a comment [\n1 ; another", [1]),
        ("#_ 1 2 [#_[3 4] 5] #_ #_ 6 7 8", [2, (5,), 8]),
        ("{{:a 1} 2}", [{"{:a 1}": 2}]),
        (
            "#:user{:a 1} #::other{} #'user/x 1/2",
            [{Word(":a"): 1}, {}, Word("user/x"), Word("1/2")],
        ),
        (r'#"a\d+" ##Inf [##NaN ##-Inf]', ["ad+", Word("##Inf"), (Word("##NaN"), Word("##-Inf"))]),
        ("#_#foo/bar{:a 1} #foo #_1 2", [2]),
        ('[a.b$c <init> "b.clj" 12]', [(Word("a.b$c"), Word("<init>"), "b.clj", 12)]),
    ],
)
def test_values_are_read(text: str, values: list[Any]) -> None:
    assert read_all(text) == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1", "line 1, column 1: what is opened here is never closed"),
        ("\n {:a 1", "line 2, column 2: what is opened here is never closed"),
        ("1]", "line 1, column 2: ']' closes nothing that is open"),
        ("(1]", "line 1, column 3: ']' closes nothing that is open"),
        ("{:a}", "line 1, column 1: this map has a key without a value"),
        ("{:a 1 :a 2}", "line 1, column 1: this map has a key twice"),
        ('"abc', "line 1, column 1: '\"abc' begins nothing"),
        ("[" * 101, "line 1, column 101: it is nested too deeply"),
        ("9" * 200, "line 1, column 1: this number is too long"),
        (f"[1 {'9' * 5000}N]", "line 1, column 4: this number is too long"),
        ("1\n#jepsen.history.Op", "line 2, column 1: what this is for does not follow"),
        ("[1 #_]", "line 1, column 4: what this is for does not follow"),
        ("#_ #_ 1", "line 1, column 4: what this is for does not follow"),
    ],
)
def test_malformed_edn_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(BadEdn) as found:
        read_all(text)
    assert str(found.value) == said


@pytest.mark.parametrize("text", ["1 [2] (3", "[1 [2] {:a", "(1 [2] #_", "[1 [2] }", "1 [2] {:a}"])
def test_values_before_malformed_edn_are_read(text: str) -> None:
    with pytest.raises(BadEdn) as found:
        read_all(text)
    assert found.value.before == (1, (2,))


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
)


@given(st.lists(_VALUES, min_size=2, max_size=2))
def test_no_two_different_values_are_written_alike(pair: list[Any]) -> None:
    one, other = pair
    assert (written(one) == written(other)) == (repr(one) == repr(other))


def test_a_number_and_its_digits_are_two_values() -> None:
    assert [written(3), written("3"), written("a b"), written("ab")] == ["3", '"3"', '"a b"', "ab"]
