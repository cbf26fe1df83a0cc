"""What is known only when a deployment is made, and the addresses that follow from it.

1. Without settings of a run the values are variables with defaults, for people to use by hand; the
   cookie has none, for a secret that stands in a file of ours is none.
"""

from dataclasses import dataclass, field, replace

FIRST_HOST = 11  # the last part of the first host's address


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The defaults are for people."""

    worker_image: str
    network: str = "${MQPROOF_NETWORK:-172.31.7}"  # the first three parts of all addresses
    proxy_image: str = "${MQPROOF_TOXIPROXY_IMAGE:-mqproof/toxiproxy:2.12.0}"
    balancer_image: str = "${MQPROOF_BALANCER_IMAGE:-mqproof/balancer:2.6}"
    experiment: str = "${MQPROOF_EXPERIMENT:-.}"
    owner: str = "${MQPROOF_OWNER:-}"
    keep: str = "${MQPROOF_KEEP:-1}"
    user: str = "${MQPROOF_USER:-0:0}"
    loopback: str = "${MQPROOF_LOOPBACK:-127.64.7}"  # the same of what is published, if any is
    cookie: str = field(default="${MQPROOF_REFERENCE_COOKIE:?is to be drawn by you}", repr=False)

    def literal(self) -> "Settings":
        """The same with every `$` doubled, so that Compose takes each value as it is."""
        names = self.__dataclass_fields__
        return replace(self, **{name: getattr(self, name).replace("$", "$$") for name in names})


def host_address(network: str, number: int) -> str:
    """Of the host at this place of the layout, from 0."""
    return f"{network}.{FIRST_HOST + number}"
