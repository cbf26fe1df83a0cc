"""Checks of a recorded run before its judgement: it is sealed if it is not yet, and must be whole.

1. A sealed run is checked first, all of it: manifest, every raw table, and the run's identity. A
   mismatch is a damage; it is reported with its path, and no part of the run is judged.
2. Nothing is sealed again without a request. If a damaged run's logs are intact, the message says
   how to request it.
3. Any obstacle (a vanished file, a folder that cannot be written, a full disk) is reported with
   its cause and path, and affects this run alone.
"""

import shlex
from pathlib import Path

import pyarrow as pa

from harness.run_folder.manifest import NAME, SEALED, Manifest
from harness.run_folder.seal import LOGS, log_files, log_folders, seal
from spark_analysis.files.log import LogDamaged
from spark_analysis.files.sealed import RAW, Resealed, Seal, file_damages, table_damages

_AND_MORE = 3  # the number of damages of one run that a message lists


class NotWhole(Exception):
    """A run that cannot be judged: why, with the path of what is wrong."""


def whole(folder: Path, resealed_at: str = "") -> Manifest:
    """Return the manifest of a run whose tables match their seal. Raise NotWhole.

    `resealed_at`: the time to record if a damaged run is to be sealed again from its logs; "" if
    it is not.
    """
    try:
        return _whole(folder, resealed_at)
    except FileNotFoundError as failure:
        raise NotWhole(f"{failure.filename or folder} is gone") from failure
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise NotWhole(f"{failure.filename or folder}: {reason}") from failure
    except (LogDamaged, pa.ArrowException) as failure:
        raise NotWhole(f"{folder} cannot be sealed: {failure}") from failure
    except (ValueError, TypeError, KeyError, AttributeError) as failure:
        raise NotWhole(_with_path(folder / NAME, failure)) from failure


def _whole(folder: Path, resealed_at: str) -> Manifest:
    manifest = Manifest.load(folder)
    if manifest.run != folder.name:
        raise NotWhole(f"{folder / NAME} is that of another run, {manifest.run}")
    if manifest.seal is None:
        return _first_sealed(folder, manifest)
    found = tuple(table_damages(folder, manifest.seal))
    if not found:
        return manifest
    logs = _log_damages(folder, manifest.seal)
    if not resealed_at or logs:
        raise NotWhole(f"damaged: {_several(found)}. {_what_to_do(folder, logs)}")
    return _reseal(folder, manifest.seal, Resealed(resealed_at, _several(found)))


def _first_sealed(folder: Path, manifest: Manifest) -> Manifest:
    """A run that was never sealed, or before there were checksums.

    Of the latter all that can be seen is that it has any table at all.
    """
    logs = log_folders(folder)
    judged_as_it_is = manifest.facts is not None and (manifest.phase == SEALED or not logs)
    place, what = (RAW, "table") if judged_as_it_is else (LOGS, "log")
    there = any((folder / RAW).glob("*.parquet")) if judged_as_it_is else bool(logs)
    if manifest.load_started_ns is not None and not there:
        raise NotWhole(f"damaged: {folder / place} has no {what}, though the run had load")
    return manifest if judged_as_it_is else seal(folder)


def _log_damages(folder: Path, sealed: Seal) -> tuple[str, ...]:
    if not sealed.logs:
        return ("it had no logs",)
    return tuple(file_damages(folder, sealed.logs, log_files(folder)))


def _reseal(folder: Path, sealed: Seal, now: Resealed) -> Manifest:
    """From logs that are what they were when this run was sealed before."""
    made = seal(folder, (*sealed.resealed, now))
    assert made.seal is not None, "sealing writes the seal"
    # Only the user may remove a file that belongs to no table.
    if left := tuple(table_damages(folder, made.seal)):
        raise NotWhole(f"sealed again, and still damaged: {_several(left)}")
    return made


def _what_to_do(folder: Path, logs: tuple[str, ...]) -> str:
    if logs:
        return f"Its tables cannot be rebuilt: {_several(logs)}"
    command = shlex.join(["mqproof", "analyse", str(folder.parent.parent), "--reseal"])
    return f"The logs that they were made from are whole; to rebuild them: {command}"


def _several(found: tuple[str, ...]) -> str:
    more = len(found) - _AND_MORE
    text = "; ".join(found[:_AND_MORE])
    return f"{text}; and {more} more" if more > 0 else text


def _with_path(path: Path, failure: Exception) -> str:
    said = str(failure) if isinstance(failure, ValueError) else repr(failure)
    return said if str(path) in said else f"{path} is no manifest of ours: {said}"
