"""`python -m sigservice` is the `sigservice` command."""

import sys

from sigservice.cli import main

sys.exit(main())
