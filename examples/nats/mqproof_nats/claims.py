"""What NATS's documentation says, as claims. Entry point of mqproof.claims."""

from pathlib import Path

from harness.judging.brought_claims import ClaimsOffer

CLAIMS = ClaimsOffer(name="nats", file=lambda: Path(__file__).parent / "files" / "claims.toml")
