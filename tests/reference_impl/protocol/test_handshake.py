"""Two ends of a link that prove themselves to each other, and those who cannot."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.protocol.handshake import (
    FRAME_OCTETS_MAX,
    NAME_OCTETS_MAX,
    NONCE_OCTETS,
    Handshake,
    HandshakeError,
)

COOKIE = "what only they know"
ONE, OTHER, THIRD = (bytes([number]) * NONCE_OCTETS for number in (1, 2, 3))


def accepter(cookie: str = COOKIE, name: str = "a", nonce: bytes = ONE) -> Handshake:
    return Handshake(cookie, name, nonce, dialled=None)


def dialler(
    cookie: str = COOKIE, name: str = "b", nonce: bytes = OTHER, dialled: str = "a"
) -> Handshake:
    return Handshake(cookie, name, nonce, dialled)


def meet(accepts: Handshake, dials: Handshake) -> None:
    assert dials.begin() == b""
    dials.read(accepts.read(dials.read(accepts.begin())))


def test_an_end_that_knows_the_cookie_learns_its_peers_name() -> None:
    accepts, dials = accepter(), dialler()
    meet(accepts, dials)
    assert (accepts.peer, dials.peer) == ("b", "a")


@given(st.lists(st.integers(1, 400), max_size=8))
def test_a_handshake_accepts_any_pieces_and_keeps_the_rest(cuts: list[int]) -> None:
    accepts, dials = accepter(), dialler()
    answer = dials.read(accepts.begin())
    whole = accepts.read(answer) + b"and a packet"
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(whole[at : at + cut])
        at += cut
    rest = b""
    for piece in [*pieces, whole[at:]]:
        if dials.peer is None:
            dials.read(piece)
            rest += dials.rest
        else:
            rest += piece
    assert (dials.peer, rest) == ("a", b"and a packet")


def test_a_peer_without_the_cookie_is_refused_first() -> None:
    accepts = accepter()
    answer = dialler(cookie="what somebody guesses").read(accepts.begin())
    with pytest.raises(HandshakeError, match="does not know the cookie"):
        accepts.read(answer)
    assert accepts.peer is None


def test_a_node_without_the_cookie_is_refused() -> None:
    impostor, dials = accepter(cookie="what somebody guesses"), dialler()
    answer = dials.read(impostor.begin())
    proof = impostor._proof(b"accepted", impostor._own, impostor._own)
    assert answer
    with pytest.raises(HandshakeError, match="does not know the cookie"):
        dials.read(len(proof).to_bytes(2, "big") + proof)
    assert dials.peer is None


def test_a_proof_that_was_overheard_opens_no_other_link() -> None:
    overheard = dialler().read(accepter().begin())
    with pytest.raises(HandshakeError, match="does not know the cookie"):
        accepter(nonce=THIRD).read(overheard)


def test_a_reflected_proof_is_refused() -> None:
    """A dialler that repeats elsewhere what a node says proves nothing."""
    accepts = accepter()
    answer = dialler().read(accepts.begin())
    nonce, proof = answer[2 : 2 + NONCE_OCTETS], answer[2 + NONCE_OCTETS : 2 + 2 * NONCE_OCTETS]
    dials = dialler(nonce=nonce)
    dials.read(accepts.begin())
    with pytest.raises(HandshakeError, match="does not know the cookie"):
        dials.read(len(proof).to_bytes(2, "big") + proof)


def test_a_proof_is_valid_only_for_the_name_it_names() -> None:
    accepts = accepter()
    answer = dialler(name="b").read(accepts.begin())
    with pytest.raises(HandshakeError, match="does not know the cookie"):
        accepts.read(answer[:-1] + b"c")


def test_a_dialler_refuses_a_different_node() -> None:
    accepts, dials = accepter(name="c"), dialler(dialled="a")
    with pytest.raises(HandshakeError, match="it is 'c', where a was dialled"):
        meet(accepts, dials)


def test_no_node_links_with_a_node_of_its_own_name() -> None:
    with pytest.raises(HandshakeError, match="own name"):
        meet(accepter(name="a"), dialler(name="a"))


@pytest.mark.parametrize("end", [accepter, dialler])
def test_a_long_frame_is_refused_by_its_length(end: Callable[[], Handshake]) -> None:
    too_long = FRAME_OCTETS_MAX + 1
    with pytest.raises(HandshakeError, match="does not speak as a peer"):
        end().read(too_long.to_bytes(2, "big"))


@given(st.binary(max_size=1000))
def test_bytes_of_a_stranger_prove_nothing(octets: bytes) -> None:
    accepts = accepter()
    try:
        assert accepts.read(octets) == b""
    except HandshakeError:
        return
    assert accepts.peer is None
    assert len(accepts._held) < 2 + FRAME_OCTETS_MAX


def test_the_longest_names_that_configurations_take_fit() -> None:
    long = "ö" * (NAME_OCTETS_MAX // 2)
    accepts, dials = accepter(name=long + "a"), dialler(name=long + "b", dialled=long + "a")
    meet(accepts, dials)
    assert (accepts.peer, dials.peer) == (long + "b", long + "a")
