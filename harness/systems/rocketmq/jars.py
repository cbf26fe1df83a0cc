"""What servers are run from: the jars of each version, unmodified."""

from collections.abc import Mapping

from harness.plan.jars import JarSet

_ARTIFACTS: Mapping[str, tuple[str, ...]] = {
    "4.9.7": ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-tools"),
    "5.3.3": ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-tools", "rocketmq-controller"),
}


def _jars(version: str) -> JarSet:
    name = f"rocketmq-server-{version}"
    return JarSet(
        name=name,
        artifacts=tuple(f"org.apache.rocketmq:{one}:{version}" for one in _ARTIFACTS[version]),
        lock=f"rocketmq-java/locks/{name}.sha256",
        classes="",
    )


SERVER_JARS: Mapping[str, JarSet] = {version: _jars(version) for version in _ARTIFACTS}
