"""What the repository weighs: marts and checksums instead of raw packs.

The tree has at most GOAL bytes, packs of findings included.
"""

import subprocess
from pathlib import Path

import pytest

from harness.campaigns import evidence
from harness.campaigns.run_marts import SUFFIX

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "results" / "published"
GOAL = 40_000_000
FILE_MAX = 1_000_000
FINDINGS_MAX = 15_000_000
MARTS_OF_A_PAGE_MAX = 1_000_000
CHANGELOG_LINES_MAX = 150


@pytest.fixture
def tracked() -> dict[str, int]:
    """Each tracked file with its size; in a copy without git there is nothing to weigh."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"this is no git checkout: {done.stderr.strip()}")
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return {
        path.relative_to(ROOT).as_posix(): path.lstat().st_size
        for path in paths
        if path.is_symlink() or path.exists()
    }


def packs_of_findings() -> dict[str, int]:
    """The sizes of the packs that are kept, by their tracked names."""
    return {
        f"results/published/{one.file}": one.size
        for one in evidence.listed(PUBLISHED).values()
        if one.kept == "finding"
    }


@pytest.mark.slow  # git is a process
def test_no_tracked_file_exceeds_a_megabyte_except_kept_packs(
    tracked: dict[str, int],
) -> None:
    large = {name for name, size in tracked.items() if size > FILE_MAX}
    assert sorted(large - packs_of_findings().keys()) == []


@pytest.mark.slow  # git is a process
def test_the_tree_is_no_larger_than_the_goal(tracked: dict[str, int]) -> None:
    assert sum(tracked.values()) <= GOAL


def test_packs_of_findings_are_few() -> None:
    assert 0 < sum(packs_of_findings().values()) <= FINDINGS_MAX


@pytest.mark.slow  # git is a process
def test_tracked_packs_are_those_that_are_kept(tracked: dict[str, int]) -> None:
    lying = {name: size for name, size in tracked.items() if name.endswith(".tar.xz")}
    assert lying == packs_of_findings()


def test_packs_of_findings_have_their_checksums() -> None:
    for one in evidence.listed(PUBLISHED).values():
        if one.kept == "finding":
            assert evidence.sha256_of(PUBLISHED / one.file) == one.sha256, one.file


@pytest.mark.slow  # git is a process
def test_each_listed_pack_has_marts_and_each_marts_a_pack(tracked: dict[str, int]) -> None:
    marts = {
        evidence.Evidence(PUBLISHED, one.file, one).marts.relative_to(ROOT).as_posix()
        for one in evidence.listed(PUBLISHED).values()
    }
    assert marts == {name for name in tracked if name.endswith(SUFFIX)}


@pytest.mark.slow  # git is a process
def test_marts_of_a_page_stay_below_a_megabyte(tracked: dict[str, int]) -> None:
    by_folder: dict[str, int] = {}
    for name, size in tracked.items():
        if name.endswith(SUFFIX):
            folder = name.rpartition("/")[0]
            by_folder[folder] = by_folder.get(folder, 0) + size
    assert by_folder
    assert {one: size for one, size in by_folder.items() if size > MARTS_OF_A_PAGE_MAX} == {}


def test_the_changelog_stays_short() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= CHANGELOG_LINES_MAX, "git has the details"
