"""Replies: what they show, and their texts."""

from collections.abc import Mapping

from faults.core.model import Proof, Reply

SILENCE_S = 2.0  # witnesses wait longer than this before they give up
DIRECT = "direct"


def silent(reply: Reply) -> bool:
    """Return whether it was silent. What has ended is not silent, however late it ended."""
    return not reply.answered and not reply.end and reply.seconds >= SILENCE_S


def passed(reply: Reply) -> bool:
    """Return whether it came through: an answer, or an end of the connection. A refusal, too."""
    return reply.answered or bool(reply.end)


def is_silent(reply: Reply | None) -> bool:
    return reply is not None and silent(reply)


def is_answered(reply: Reply | None) -> bool:
    return reply is not None and reply.answered


def said(reply: Reply | None) -> str:
    return "not queried" if reply is None else reply.detail


def listing(replies: Mapping[str, Reply], names: list[str] | None = None) -> str:
    chosen = sorted(replies) if names is None else names
    return "; ".join(f"{name}: {said(replies.get(name))}" for name in chosen) or "no replies"


def proven(detail: str) -> Proof:
    return Proof(ok=True, detail=detail)


def both(one: Proof, other: Proof) -> Proof:
    """Proves what both prove; the first doubt counts."""
    if one.ok and other.ok:
        return proven(f"{one.detail}; {other.detail}")
    return other if one.ok else one


def doubt(doubt: str) -> Proof:
    return Proof(ok=False, detail="", doubt=doubt)
