"""Whether anything else is busy on this machine."""

from pathlib import Path

import pytest

from harness.nightly import playing
from harness.nightly.playing import Unknown, busy, ticks, wait

FIRST = "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n"
LATER = "cpu  130 0 60 850 60 0 0 0 0 0\n"


def test_busy_counts_all_cores_but_no_disk_wait() -> None:
    assert ticks(FIRST) == (850, 1000)


@pytest.mark.parametrize("text", ["", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu a b c d e f g h"])
def test_without_kernel_statistics_load_is_unknown(text: str) -> None:
    with pytest.raises(Unknown):
        ticks(text)


def test_machine_load_is_measured_over_an_interval(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(FIRST)

    def pause(_: float) -> None:
        stat.write_text(LATER)

    assert busy(pause, stat) == pytest.approx(0.4)


def test_a_machine_that_is_quiet_is_not_waited_for() -> None:
    assert wait(0.1, 0.0, lambda: 0.05) == ""


def test_busy_machine_is_checked_again_until_it_is_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(playing, "AGAIN_S", 0.0)
    shares = iter([0.9, 0.5, 0.02])
    assert wait(0.1, 60.0, lambda: next(shares)) == ""


def test_the_load_is_reported_if_the_machine_never_was_quiet() -> None:
    assert wait(0.1, 0.0, lambda: 0.9) == (
        "90 % of this machine's cores were busy with something else for 0 s, 10 % may be"
    )


def test_an_unmeasurable_load_is_reported(tmp_path: Path) -> None:
    message = wait(0.1, 0.0, lambda: busy(lambda _: None, tmp_path / "none"))
    assert message.startswith("the load of this machine cannot be measured")
