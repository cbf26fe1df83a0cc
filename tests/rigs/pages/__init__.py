"""Pages of the documentation that are made; `tests/docs` compares each with the file in docs/.

client_matrix     clients, and what each can
fault_matrix      faults, and by what each deployment injects them
operation_matrix  operations, and by what each deployment carries them out
key_page          every key of users' TOML files
layout_page       layouts, and which scenario runs where
names             names in a table, as code
"""
