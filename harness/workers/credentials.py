"""Who a worker, or the agent, is to a broker: told by its environment, never by message or file.

1. Brokers that mqproof starts know the user guest alone; a topology of the user's names others.
"""

import os

USER, PASSWORD = "MQPROOF_LOGIN_USER", "MQPROOF_LOGIN_PASSWORD"
_GUEST = "guest"


def login() -> tuple[str, str]:
    """The name and the password."""
    return os.environ.get(USER, _GUEST), os.environ.get(PASSWORD, _GUEST)
