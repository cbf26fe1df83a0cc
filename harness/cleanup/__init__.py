"""What removes what a harness that died has left: faults are undone, clusters are gone.

Nothing here asks a run for anything: it reads labels, environments of processes, notes and
journals, and works after whatever became of the rest.

heal                the order of healing, over one kind of projects, whatever runs them
everywhere          the same over all of them: `mqproof heal`
local_projects      clusters of processes on this machine
local_leftovers     what their nodes and clusters by hand stored, if no process is left
docker_projects     clusters in containers
external_projects   what is ours around clusters that are not
guardian            a process that outlives the harness and does it at once
standby             takes the guardian's place if harness and guardian die together
guards              the harness's side: one guardian a project, watched
"""
