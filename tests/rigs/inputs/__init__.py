"""What people hand in, and should not.

bad_inputs       malformed files and arguments for the command line
mistakes         what is said of bad input, as facts: places, guesses, choices
openchaos_lines  rows as a file of OpenChaos
offered_clients  a package that offers a client, as an installer leaves it
"""
