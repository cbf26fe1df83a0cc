"""The jars that servers run from, unmodified: of any release that Maven's repository has.

Those of the versions that mqproof's own layouts name are held to a committed lock.
"""

from collections.abc import Mapping

from harness.plan.layouts.jars import JarSet
from harness.plan.layouts.versions import numbers
from harness.systems.rocketmq.layout import VERSIONS

_EVERY = ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-tools")
_SINCE_5 = ("rocketmq-controller",)


def server_jars(version: str) -> JarSet:
    name = f"rocketmq-server-{version}"
    wanted = (*_EVERY, *_SINCE_5) if numbers(version) >= (5,) else _EVERY
    return JarSet(
        name=name,
        artifacts=tuple(f"org.apache.rocketmq:{one}:{version}" for one in wanted),
        lock=f"rocketmq-java/locks/{name}.sha256" if version in VERSIONS else "",
        classes="",
    )


SERVER_JARS: Mapping[str, JarSet] = {version: server_jars(version) for version in VERSIONS}
