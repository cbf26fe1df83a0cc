"""Failures of Spark in one sentence, without a Java stack trace.

1. If Spark, its JVM or this machine fails, the message names that cause and shows no trace.
2. py4j logs a broken connection with its traceback and fails the call as well. The failed call
   is reported, so the log record is dropped.
"""

import logging
import re

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

# What its calls may raise, beside faults of our own.
SPARK_ERRORS = (PySparkException, Py4JError, ConnectionError, EOFError)
_GONE = (Py4JNetworkError, ConnectionError, EOFError)
_CAUSE = re.compile(
    r'^(?:Caused by: |Exception in thread "main" )?[\w.$]*(?:Exception|Error): (.+)$', re.MULTILINE
)
_SAID_MAX = 200
_MEANINGS = (
    ("Python worker exited unexpectedly", "a worker process of Spark died (was it killed?)"),
    ("OutOfMemoryError", "Spark's JVM has not enough memory"),
    ("No space left on device", "Spark's own files: No space left on device"),
    ("JAVA_GATEWAY_EXITED", "its JVM ended at once"),
    ("Java gateway process exited", "its JVM ended at once"),
)


class SparkFailed(Exception):
    """Spark could not start, or ended before it had answered."""


class MartsUnwritten(Exception):
    """The marts could not be written: where, and why."""


def is_gone(error: Exception) -> bool:
    """Return whether Spark has ended, so that no further call can succeed."""
    plain = type(error) is Py4JError and "Answer from Java side is empty" in str(error)
    return isinstance(error, _GONE) or plain


def is_worth_logging(record: logging.LogRecord) -> bool:
    """Filter of the root logger, which py4j uses: False for what fails a call as well."""
    raised = record.exc_info[1] if record.exc_info else None
    return not (record.module == "java_gateway" and isinstance(raised, Py4JNetworkError))


def causes(text: str) -> list[str]:
    """Return the causes in a Java stack trace; the root cause is the last."""
    return _CAUSE.findall(text)


def sentence(error: Exception) -> str:
    """Return the reason why a call of Spark failed."""
    if is_gone(error):
        return "its JVM ended (was it killed?)"
    text = str(error.java_exception) if isinstance(error, Py4JJavaError) else str(error)
    for words, meaning in _MEANINGS:
        if words in text:
            return meaning
    lines = [*causes(text)[-1:], *text.strip().splitlines()[:1], type(error).__name__]
    return str(lines[0])[:_SAID_MAX]
