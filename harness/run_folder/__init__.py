"""What is left of a run on the disk, while it goes on and after it.

manifest        what the harness itself knows of a run, saved at every step forward
journal         which faults are armed, for whoever heals
seal            workers' logs become one Parquet file a raw table
whole           a recorded run on its way to be judged
rows            raw rows as values, for the few that a person is shown
client_events   what clients' events tell of each window
process_ends    a broker's process that ended unplanned, in a sentence
experiments     experiment.json: what was asked for
packing         runs packed into one file
reserve         room on the disk that is kept back
tolerances      how late or far off what is recorded may be
"""
