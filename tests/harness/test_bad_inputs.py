"""Bad input of every kind: told in a few lines and soon, never by a traceback, never by 255."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from harness.cli import main
from harness.judging.exits import Judge
from harness.judging.own_claims import OwnClaims
from harness.judging.result import Report
from harness.outside.text import visible
from harness.report.display import Display
from spark_analysis.schema.place import Place
from tests.rigs.inputs.bad_inputs import BadInput, inputs
from tests.rigs.runs.findings import Story
from tests.rigs.runs.reports import report, run
from tests.rigs.runs.stored import stored

LIMIT_S = 5.0  # of a machine that does other things, too; 2 s are meant
SAID_MAX = 200_000  # characters: fifty problems with their choices
ENDINGS = {0, 1, 2, 254}


class NothingStarts:
    """A pipeline that says what it was asked, and does nothing."""

    def run(self, *arguments: object) -> Report:
        return report(run(Story()))

    def bring(self, *arguments: object) -> None:
        pass

    def analyse(
        self,
        folders: Sequence[Path],
        into: Path,
        judge: Judge | None,
        show: Display,
        reseal: bool,
        where: Place,
        claims: OwnClaims | None,
    ) -> Report:
        return report(run(Story()))

    def heal(self, show: Display, *chosen: object) -> bool:
        return True

    def build(
        self, systems: tuple[str, ...], show: Display, versions: tuple[str, ...] = ()
    ) -> None:
        pass

    def doctor(self, show: Display) -> bool:
        return True

    def doctor_of(self, topology: object, show: Display) -> bool:
        return True


@pytest.fixture
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stored(tmp_path / "stored")


def put(folder: Path, bad: BadInput) -> None:
    for name, content in bad.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.mark.usefixtures("_there")
@pytest.mark.parametrize(
    ("seed", "count"),
    [(17, 120), pytest.param(18, 500, marks=[pytest.mark.slow, pytest.mark.nightly])],
)
def test_no_bad_input_is_an_internal_error(
    seed: int, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endings: Counter[tuple[str, int]] = Counter()
    wrong: list[str] = []
    for number, bad in enumerate(inputs(Random(seed), count)):
        put(tmp_path, bad)
        began_s = time.perf_counter()
        code = main(bad.words, NothingStarts)  # type: ignore[arg-type]
        took_s = time.perf_counter() - began_s
        said = capsys.readouterr()
        endings[bad.kind, code] += 1
        output = said.out + said.err
        for doubt, what in (
            (code not in ENDINGS, f"ended with {code}"),
            (took_s > LIMIT_S, f"took {took_s:.1f} s"),
            (len(output) > SAID_MAX, f"said {len(output):,} characters"),
            ("Traceback" in output, "a traceback"),
            (output != visible(output), "commands or hides something"),
        ):
            if doubt:
                wrong.append(f"{number} ({bad.kind}): {what}: {output[:300]}")
    assert not wrong, "\n".join(wrong)
    assert sum(endings.values()) == count
    # Some are not wrong any more: keys that no reader uses, a value that is as good.
    refused = sum(often for (_, code), often in endings.items() if code == 254)
    assert refused > count * 0.6, endings
