"""Who a worker, or the agent, is to a broker: told by its environment, never by message or file.

1. Brokers that mqproof starts know the user guest alone; a topology of the user's names others.
2. So does the virtual host; `tls.py` reads how brokers' certificates are checked.
"""

import os

USER, PASSWORD = "MQPROOF_LOGIN_USER", "MQPROOF_LOGIN_PASSWORD"
VIRTUAL_HOST = "MQPROOF_LOGIN_VIRTUAL_HOST"
_GUEST, _ROOT = "guest", "/"


def login() -> tuple[str, str]:
    """The name and the password."""
    return os.environ.get(USER, _GUEST), os.environ.get(PASSWORD, _GUEST)


def access_keys() -> tuple[str, str] | None:
    """Return the access key and the secret key; None: brokers ask for none."""
    return login() if USER in os.environ else None


def virtual_host() -> str:
    return os.environ.get(VIRTUAL_HOST, _ROOT)
