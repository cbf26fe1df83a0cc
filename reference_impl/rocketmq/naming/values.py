"""Values that operators keep in a name server, by namespace and name (ORDER_TOPIC_CONFIG is one).

The real one keeps them in a file; here they live as long as the process.
"""


class KeyValues:
    def __init__(self) -> None:
        self._spaces: dict[str, dict[str, str]] = {}

    def put(self, namespace: str, name: str, value: str) -> None:
        self._spaces.setdefault(namespace, {})[name] = value

    def get(self, namespace: str, name: str) -> str | None:
        return self._spaces.get(namespace, {}).get(name)

    def delete(self, namespace: str, name: str) -> None:
        self._spaces.get(namespace, {}).pop(name, None)

    def space(self, namespace: str) -> dict[str, str] | None:
        """Return a namespace; None: nothing was ever put there."""
        return self._spaces.get(namespace)
