"""From the words on a command line to an experiment; nothing is started here.

run_request     scenarios, systems, layouts and clients of a command line, and their mistakes
own_layouts     layouts of the user's own
topology_file   brokers that are there
kernel          cells that the Docker host's kernel cannot do
suites          experiments that bring all of it, by one word
demo            the experiment of `mqproof demo`
"""
