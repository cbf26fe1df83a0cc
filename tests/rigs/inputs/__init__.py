"""What people hand in, and should not.

bad_inputs       files and words for the command line that nobody means well with
mistakes         what is said of bad input, as facts: places, guesses, choices
offered_clients  a package that offers a client, as an installer leaves it
"""
