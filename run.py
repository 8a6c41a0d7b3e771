"""Start the service from a checkout: `python run.py`."""

import sys

from sigservice.cli import main

if __name__ == "__main__":
    sys.exit(main())
