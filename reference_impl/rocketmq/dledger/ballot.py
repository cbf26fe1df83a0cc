"""A member's term and vote, which are on the disk before it answers with them."""

import msgspec

from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.store.disk import Disk


class _KeptBallot(msgspec.Struct, frozen=True, rename="camel"):
    curr_term: int
    vote_leader: str


class Ballot:
    """`vote`: whom it voted for in its term; "": none yet. Raises ValueError for a document
    that is none: a member that forgot its vote must not vote again."""

    def __init__(self, disk: Disk, settings: MemberSettings) -> None:
        self._disk = disk
        self._document = f"{settings.folder}/currterm"
        self._is_kept = settings.keeps(Rule.REMEMBER_VOTE)
        self.term, self.vote = 0, ""
        kept = disk.document(self._document) if self._is_kept else None
        if kept is not None:
            try:
                ballot = msgspec.json.decode(kept, type=_KeptBallot)
            except msgspec.DecodeError as error:
                raise ValueError(f"{self._document}: no term and vote: {error}") from error
            self.term, self.vote = ballot.curr_term, ballot.vote_leader

    def enter(self, term: int) -> None:
        """Begin a later term, without a vote."""
        assert term > self.term, f"term {term} is not after {self.term}"
        self.term, self.vote = term, ""
        self._keep()

    def cast(self, name: str) -> None:
        if self.vote != name:
            assert not self.vote, f"it voted for {self.vote} in term {self.term}"
            self.vote = name
            self._keep()

    def _keep(self) -> None:
        if self._is_kept:
            ballot = _KeptBallot(self.term, self.vote)
            self._disk.keep(self._document, msgspec.json.encode(ballot), flushed=True)
