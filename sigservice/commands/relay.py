"""The command that starts the relay. It imports nothing that needs psycopg2."""

import sys
from collections.abc import Mapping

from sigservice.application.service_manager import READY, notify_service_manager
from sigservice.clock import Clock
from sigservice.errors import ConfigError, StartError
from sigservice.log import escape_line
from sigservice.relay.server import Relay
from sigservice.relay.settings import load_settings


def main(environ: Mapping[str, str]) -> int:
    """Returns the exit code when the relay has stopped: 1 failure, 2 invalid configuration, whose
    errors it prints."""
    try:
        relay = Relay(load_settings(environ), Clock())
        relay.start()
    except ConfigError as error:
        for problem in error.problems:
            print(f"sigservice: {problem}", file=sys.stderr)
        return 2
    except StartError as error:
        print(escape_line(f"sigservice: {error}"), file=sys.stderr)
        return 1
    relay.install_signal_handlers(environ)
    notify_service_manager(READY, environ)
    print("\n".join(relay.describe()), flush=True)
    relay.wait()
    return 0
