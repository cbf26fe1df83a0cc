"""The options of every JVM of Spark and Hadoop that the project starts.

1. A JVM here moves small marts or copies files: a quick start is worth more than its best speed.
2. Spark's launcher adds what Spark needs to drivers and executors, and a module that nothing here
   uses: a wrapper of Java drops that (java.py). A server of Spark is started without that
   launcher, so its options name what Spark opens.
"""

from enum import Enum
from pathlib import Path

_QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_OPENED = "--add-opens=java.base/java.nio=ALL-UNNAMED"


class Jvm(Enum):
    """The purpose of a JVM."""

    DRIVER = "driver"
    EXECUTOR = "executor"
    SERVER = "server"  # a master or a worker of a standalone cluster, a node of HDFS
    SHELL = "shell"  # Hadoop's own, which copies


def jvm_options(which: Jvm) -> tuple[str, ...]:
    """Return the options of such a JVM."""
    match which:
        case Jvm.DRIVER:
            log = Path(__file__).with_name("log4j2.properties")
            return (*_QUICK, f"-Dlog4j2.configurationFile={log.as_uri()}")
        case Jvm.EXECUTOR:
            return _QUICK  # files of this machine need not exist where executors run
        case Jvm.SERVER:
            return (*_QUICK, _OPENED)
        case Jvm.SHELL:
            return ("-Xmx256m", *_QUICK)
