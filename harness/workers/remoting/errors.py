"""How octets and answers can be wrong.

1. `WireError`: the octets do not say what the protocol demands; nothing after them can be trusted.
2. `RequestRefused`: a well-formed answer that says no, with the server's code and remark.
"""


class WireError(ValueError):
    """Octets that are no command, no table or no stored message."""


class RequestRefused(Exception):
    """The server answered, and said no. `code`: why, as a number; `remark`: its own words."""

    def __init__(self, request: str, code: int, remark: str) -> None:
        super().__init__(f"{request}: code {code}{f', {remark}' if remark else ''}")
        self.code = code
        self.remark = remark
