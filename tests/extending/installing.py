"""Leaves a package in a folder as an installer does: no build backend, no network."""

import json
import shutil
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent / "pigeonhole"


def install(site: Path, source: Path = PROJECT) -> None:
    """Install what its own pyproject.toml describes; its module has its name, with underscores."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source / name, site / name, ignore=ignored)
    said = site / f"{name}-{version}.dist-info"
    said.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
    head += "".join(f"Requires-Dist: {needed}\n" for needed in project["dependencies"])
    (said / "METADATA").write_text(head)
    direct = {"url": source.resolve().as_uri(), "dir_info": {}}  # PEP 610
    (said / "direct_url.json").write_text(json.dumps(direct))
    groups = project["entry-points"].items()
    lines = [
        line
        for group, points in groups
        for line in (f"[{group}]", *(f"{point} = {what}" for point, what in points.items()))
    ]
    (said / "entry_points.txt").write_text("\n".join(lines) + "\n")
