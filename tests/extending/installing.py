"""Leaves the package in a folder as an installer does: no build backend, no network."""

import shutil
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent / "pigeonhole"


def install(site: Path) -> None:
    """By what its own pyproject.toml says."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / name, site / name, ignore=ignored)
    said = site / f"{name}-{version}.dist-info"
    said.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (said / "METADATA").write_text(head)
    groups = project["entry-points"].items()
    lines = [
        line
        for group, points in groups
        for line in (f"[{group}]", *(f"{point} = {what}" for point, what in points.items()))
    ]
    (said / "entry_points.txt").write_text("\n".join(lines) + "\n")
