"""mqproof for spark-submit, which takes a file: `spark-submit .../mqproof.py analyse DIR`."""

import sys

from harness.cli import main

sys.exit(main(sys.argv[1:]))
