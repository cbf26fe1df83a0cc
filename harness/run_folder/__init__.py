"""The files of a run on the disk, during the run and after it.

manifest        the harness's own knowledge of a run, saved at every step forward
operations      operations as recorded, and when they may explain what clients saw
planned         a schedule as it records it
fault_options   a fault's options as runs record them
journal         the armed faults, for the process that undoes them
never_begun     planned faults that the journal proves never to have begun
seal            workers' logs become one Parquet file a raw table
whole           checks and seals a recorded run before its judgement
rows            raw rows as values, for the few that a person is shown
replica_looks   hosts of a queue's replicas, as brokers reported them at one time
client_events   facts of each window from clients' events
process_ends    sentences about unplanned ends of broker processes
claims_copy     claims.toml: the user's own claims, as they judged
experiments     experiment.json: the requested experiment
packing         runs packed into one file
reserve         disk space that is kept back
tolerances      how late or far off records may be
"""
