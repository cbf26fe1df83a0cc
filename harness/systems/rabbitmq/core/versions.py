"""PURE: the versions of RabbitMQ that Debian packages, and the release that has each.

1. A version is a number such as `4.0.5`. `4.3.x` is whichever 4.3 its release has: Debian's
   unstable release moves on, the others keep their version.
2. An image of the user's own may hold any version.
"""

from collections.abc import Mapping

from harness.plan.layouts.versions import known_as

DEFAULT = "3.10.8"
RELEASES: Mapping[str, str] = {
    DEFAULT: "bookworm",
    "3.8.9": "bullseye",
    "4.0.5": "trixie",
    "4.3.x": "sid",
}


def release_of(version: str) -> str:
    """Return the Debian release that packages a version; "" if none does."""
    return RELEASES.get(known_as(version, tuple(RELEASES)), "")
