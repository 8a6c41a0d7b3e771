"""The `sigservice` command, also as `python -m sigservice`."""

import os
import sys


def main() -> int:
    """Returns the exit code. Imports late, because `send` doesn't need the service and would wait a
    second for it."""
    if sys.argv[1:2] == ["send"]:
        from sigservice.commands import send

        return send.main(sys.argv[2:], os.environ)
    from sigservice.commands import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
