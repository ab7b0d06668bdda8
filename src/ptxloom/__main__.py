"""`python -m ptxloom` is the command."""

import sys

from ptxloom.cli import main

if __name__ == "__main__":
    sys.exit(main())
