"""What its manual says, as claims. mqproof.claims"""

from pathlib import Path

from harness.judging.brought_claims import ClaimsOffer

CLAIMS = ClaimsOffer(
    name="pigeonhole", file=lambda: Path(__file__).parent / "files" / "claims.toml"
)
