"""The `sigservice` command, also as `python -m sigservice`."""

import os
import sys


def main() -> int:
    """Returns the exit code. Imports late, because `send` doesn't need the service and would wait a
    second for it."""
    if sys.argv[1:2] == ["send"]:
        from sigservice import send_command

        return send_command.main(sys.argv[2:], os.environ)
    from sigservice import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
