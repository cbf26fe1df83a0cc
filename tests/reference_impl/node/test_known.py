"""Whose links a node keeps, and whom it knows as its cluster."""

from reference_impl.metadata.ledger import NOTHING
from reference_impl.metadata.messages import Term
from reference_impl.metadata.tables import Tables
from reference_impl.node.gossip import BOOTING, RUNNING, Greeting, State
from reference_impl.node.known import greeting_of, nodes_of, refusal


def of(nodes: str, forgotten: str = "") -> Greeting:
    return Greeting(tuple(nodes), tuple(forgotten))


def blank(nodes: str) -> Greeting:
    return Greeting(tuple(nodes), blank=True)


def both(me: str, own: Greeting, node: str, theirs: Greeting) -> tuple[str, str]:
    return refusal(me, own, node, theirs), refusal(node, theirs, me, own)


def test_nodes_of_one_cluster_keep_their_link() -> None:
    assert both("a", of("abc"), "b", of("abc")) == ("", "")
    assert both("a", blank("abc"), "b", blank("abc")) == ("", "")


def test_blank_nodes_that_were_configured_otherwise_are_not_dealt_with() -> None:
    why = "b was configured with a, b, c: it is not dealt with"
    assert refusal("a", blank("ab"), "b", blank("abc")) == why


def test_a_blank_node_may_join_any_node_with_tables() -> None:
    assert both("a", of("ab"), "d", blank("bd")) == ("", "")
    assert both("a", of("ab", "c"), "c", blank("abc")) == ("", ""), "though it was forgotten"


def test_a_forgotten_node_is_refused_until_its_reset() -> None:
    said, heard = both("a", of("ab", "c"), "c", of("abc"))
    assert said == "c was forgotten: it is not dealt with until it has been reset"
    assert heard == "Node c thinks it's clustered with node a, but a disagrees"


def test_tables_of_before_a_node_came_are_no_disagreement() -> None:
    assert both("a", of("abc"), "d", of("abcd")) == ("", "")


def test_another_cluster_is_not_dealt_with() -> None:
    one, other = both("a", of("ab"), "d", of("cd"))
    assert one == "d is of another cluster (c, d): it is not dealt with"
    assert other == "a is of another cluster (a, b): it is not dealt with"


def test_a_node_knows_its_tables_nodes_or_the_configured_ones() -> None:
    running = State(RUNNING, Term(1, "b"), NOTHING, "b", {"b": 1, "d": 4}, ())
    waiting = State(BOOTING, Term(1, "b"), 7, None, {}, ())
    assert nodes_of(Tables(nodes=("a", "b")), "abc", [running]) == {"a", "b"}
    assert nodes_of(None, "abc", [waiting]) == {"a", "b", "c"}
    assert nodes_of(None, "abc", [running]) == {"a", "b", "c", "d"}


def test_a_greeting_contains_what_a_node_knows() -> None:
    assert greeting_of(None, "ba") == blank("ab")
    assert greeting_of(Tables(nodes=("a", "b"), forgotten=("c",)), "abc") == of("ab", "c")
