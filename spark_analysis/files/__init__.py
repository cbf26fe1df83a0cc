"""The files of a run, written and read safely.

log      a worker's log: append-only, readable up to its last whole record
sealed   seals of a run's evidence, and the check against them
regular  only regular files are opened
writing  files are written whole or not at all
failed   the reason why a run was not judged, in one sentence
"""
