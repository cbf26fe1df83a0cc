"""What carries actions out, and what looks whether they took effect.

`ports`            what is asked of the agent beside the brokers
`project`          the containers of one compose project, found by labels
`packet_filter`    PURE: the shell commands that make, count and remove our chains
`once`             the agent's calls when no agent runs: one process a call
`compose`          ComposeExecutor
`compose_witness`  ComposeWitness
`nothing`          the executor that does nothing: with it, no run may be verified
"""
