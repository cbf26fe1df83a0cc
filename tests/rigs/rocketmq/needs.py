"""What tests with RocketMQ's real servers and clients need of this machine.

1. Where something lacks they skip, with the reason; where MQPROOF_REQUIRE_ROCKETMQ says that all
   of it is here, as CI does, they fail.
2. Nothing is fetched here: `python -m harness.deploy.jars` does.
"""

import importlib.util
import os
import platform
import shutil

import pytest

from harness.deploy import jars
from harness.plan.clients.rocketmq import CLIENT_PYTHON
from harness.systems.rocketmq import client_python
from harness.workers.clients.rocketmq.native import NAME
from harness.workers.clients.rocketmq.native_found import installed, refusal

REQUIRE = "MQPROOF_REQUIRE_ROCKETMQ"


def server_jars(version: str) -> str:
    """The name of the set."""
    return f"rocketmq-server-{version}"


def why_not(*sets: str) -> str:
    """Why what is in these sets of jars cannot run here; "" where it can."""
    if shutil.which("java") is None:
        return "there is no java; install Java 17 (`apt-get install openjdk-17-jre-headless`)"
    return jars.why_not(*sets)


def require_servers(*versions: str) -> None:
    skip_or_fail(why_not(*map(server_jars, versions)))


def require_client(client: str) -> None:
    if client in (NAME, CLIENT_PYTHON.name) and platform.machine() != "x86_64":
        pytest.skip("its library is made for x86_64 alone")
    if client == NAME:
        skip_or_fail(refusal(installed()))
    elif client == CLIENT_PYTHON.name:
        skip_or_fail(client_python.why_not())
    else:
        require_java_clients(client)


def require_java_clients(*clients: str) -> None:
    if importlib.util.find_spec("jpype") is None:
        skip_or_fail("JPype is missing: `pip install 'mqproof[rocketmq-java]'`")
    skip_or_fail(why_not(*clients))


def skip_or_fail(reason: str) -> None:
    """Goes on without a reason."""
    if reason and os.environ.get(REQUIRE):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
