"""The command that starts the service. It imports little, because the service imports its parts
while the database starts."""

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Callable

from sigservice.application.start import start
from sigservice.config.database import LIBPQ_VARIABLES
from sigservice.errors import AppError, ConfigError, StartError
from sigservice.log import escape_line

_M_ARENA_MAX = -8


def run() -> int:
    """Returns the exit code when the service has stopped. Raises like `start`."""
    _use_one_heap()
    # What a start creates lives as long as the process: looking through it for garbage would take a
    # tenth of the start, and a pause of all threads again and again.
    gc.disable()
    service = start()
    gc.freeze()
    gc.enable()
    print("\n".join(service.describe()), flush=True)
    service.wait()
    return 0


def call(command: Callable[[], int]) -> int:
    """The exit code of the command: 1 failure, 2 invalid configuration, whose errors it prints."""
    for name in LIBPQ_VARIABLES:  # libpq would read them
        os.environ.pop(name, None)
    try:
        return command()
    except ConfigError as error:
        for problem in error.problems:
            print(f"sigservice: {problem}", file=sys.stderr)
        return 2
    except (StartError, AppError) as error:
        print(escape_line(f"sigservice: {error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _use_one_heap() -> None:
    """Otherwise glibc gives threads heaps of their own, each of which keeps the memory of a large
    document that the thread has freed."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
