"""Runs before, while and after they are judged.

plans          small plans: seconds instead of minutes
manifests      the manifest of a calm run, before it begins
log_rows       the rows of a worker's log
run_folders    run folders, as sealing leaves them
sealed_runs    whole runs with logs, manifest and raw tables
stored         folders of experiments, as they are left behind
judged_runs      histories told by hand, in folders, judged without Spark
findings       what the marts of one run would hold
compared_runs  runs compared by the oracle, and by Spark
displays       a display that shows nothing, and keeps what it was reported
reports        reports of an experiment of two cells
fault_pairs          pairs of fault kinds as scenarios, alone or in batches
fault_pairs_played   plays a batch, and judges each of its pairs
play_fault_pairs     plays all that were not played yet
fault_pairs_results  what was played
fault_pairs_page     the documentation page of these pairs
"""
