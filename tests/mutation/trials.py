"""Tries mutants, each in a fork of one process that has everything heavy loaded already.

1. A fork loads the code under test afresh, the mutant's module from the mutant's text: no file is
   changed, and several are tried at once. What starts a process would not see the mutant, so
   tests that do are left out.
2. First the part's judge is held against the answers, then the tests run, to the first objection.
3. A mutant that runs for ever ends by its processor time: a busy machine ends none. What is
   killed otherwise, or cut short since our own time is up, is no verdict and stays to be tried.
4. Unchanged code passes before the first mutant, or none is tried.
"""

import gc
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import IO, Any

import pytest
from answers import Answered, answered, objection
from mutants import Mutant

CPU_SECONDS_MAX = 120
ADDRESS_BYTES_MAX = 16 << 30
OPTIONS = (
    *("-x", "-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:warnings"),
    *("-m", "not slow and not docker and not nightly"),
)
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


@dataclass(frozen=True, slots=True)
class Part:
    """What is mutated together, and what tries it (parts.toml)."""

    modules: list[str]
    answers: str
    tests: list[str]
    reload: list[str]
    without: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant, what became of it, and the last words of what tried it."""

    mutant: Mutant
    verdict: str
    words: str


class Trials:
    """Whatever heavy there is, loaded once for all mutants of a part."""

    def __init__(self, part: Part, answers: Path, histories: int) -> None:
        """`answers`: where they are kept; `histories`: so many of them."""
        self._part = part
        noted = answered(answers, histories) if part.answers else []
        self._histories: list[Answered] = noted
        if pytest.main([*OPTIONS, *part.tests]):
            sys.exit("the tests fail without any mutant")
        for name in [name for name in sys.modules if _is_within(name, part.reload)]:
            del sys.modules[name]
        gc.freeze()  # else every fork would copy what it only looks through

    def of(self, mutants: Iterable[Mutant], until_s: float, cores: int) -> Iterator[Tried]:
        """Verdicts as they come, until that time of the monotonic clock."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # it is waited for
        waiting, running = iter(mutants), dict[int, _Fork]()
        while True:
            while len(running) < cores and time.monotonic() < until_s:
                mutant = next(waiting, None)
                if mutant is None:
                    break
                fork = self._fork(mutant)
                running[fork.process] = fork
            if not running:
                return
            if time.monotonic() >= until_s:
                for process in running:
                    os.kill(process, signal.SIGKILL)
            process, status = os.waitpid(-1, os.WNOHANG)
            if process:
                yield from running.pop(process).ended(status)
            else:
                signal.sigtimedwait([signal.SIGCHLD], 1)

    def _fork(self, mutant: Mutant) -> "_Fork":
        words, code = tempfile.TemporaryFile("w+"), mutant.code()  # noqa: SIM115 - the fork's
        process = os.fork()
        if process == 0:
            self._try(mutant, code, words.fileno())
        return _Fork(mutant, process, words)

    def _try(self, mutant: Mutant, code: str, words: int) -> None:
        """Ends this fork: with 0 if nothing objects."""
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX + 5))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES_MAX, ADDRESS_BYTES_MAX))
        os.dup2(words, 1)
        os.dup2(words, 2)
        ended = 1
        try:
            sys.meta_path.insert(0, _Instead(mutant.path, code))
            ended = self._objections()
        except BaseException as error:
            print(f"import: {error!r}")
        finally:
            sys.stdout.flush()
            os._exit(ended)

    def _objections(self) -> int:
        judge = self._part.answers
        if judge and (found := objection(judge, self._histories)):
            print(f"answers: {found}")
            return 1
        return int(pytest.main([*OPTIONS, *self._part.tests]))


@dataclass(frozen=True, slots=True)
class _Fork:
    mutant: Mutant
    process: int
    words: IO[str] = field(repr=False)

    def ended(self, status: int) -> Iterator[Tried]:
        """What its end says; nothing where it was cut short, or memory ran out."""
        self.words.seek(0)
        last = self.words.read()[-1_000:]
        self.words.close()
        if not os.WIFSIGNALED(status):
            yield Tried(self.mutant, KILLED if status else SURVIVED, last)
        elif os.WTERMSIG(status) == signal.SIGXCPU:
            yield Tried(self.mutant, TIMED_OUT, last)


class _Instead(SourceFileLoader):
    """Finds one module, and loads other code for it than its file has."""

    def __init__(self, path: str, code: str) -> None:
        name = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
        super().__init__(name, str(Path(path).resolve()))
        self._code = code

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        found: ModuleSpec | None = None
        if name == self.name:
            found = spec_from_file_location(name, self.path, loader=self)
        return found

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._code, self.path, "exec")


def _is_within(name: str, packages: Iterable[str]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in packages)
