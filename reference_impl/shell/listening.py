"""What a server says that cannot listen."""

import errno


def cannot_listen(host: str, port: int, error: OSError) -> str:
    """Return a line for its operator: the address, why, and what to do."""
    where = f"cannot listen on {host}:{port}"
    if error.errno != errno.EADDRINUSE:
        return f"{where}: {error}"
    return (
        f"{where}: another program uses this port; expected: a free port. "
        f"`ss -tanp sport = :{port}` shows that program: end it, or choose another port. "
        f"Below 32768 Linux gives none to clients while the server is down."
    )
