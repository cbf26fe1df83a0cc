"""What people hand in, and should not.

bad_inputs       files and words for the command line that nobody means well with
offered_clients  a package that offers a client, as an installer leaves it
"""
