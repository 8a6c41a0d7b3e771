"""The `sigservice` command, also as `python -m sigservice`."""

import os
import sys


def main() -> int:
    """Returns the exit code. Imports late: `send` doesn't need the service and would wait a second
    for it, and a start doesn't need the other commands."""
    if sys.argv[1:2] == ["send"]:
        from sigservice.commands import send

        return send.main(sys.argv[2:], os.environ)
    if sys.argv[1:] in ([], ["run"]):
        from sigservice.commands import run

        return run.call(run.run)
    if sys.argv[1:] == ["relay"]:  # where psycopg2 isn't installed, too
        from sigservice.commands import relay

        return relay.main(os.environ)
    from sigservice.commands import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
