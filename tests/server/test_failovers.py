"""The primary dies under load, and its synchronous standby becomes the primary: two processes lose
nothing that they have acknowledged, act once, and need no restart.

FAILOVERS is their number; the suite makes one, by hand make 20.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from tests.postgres_server import PostgresServer, postgres_server
from tests.server.process import OPEN_LIMITS, Process, find_free_port, run_service, until
from tests.server.test_kill import Load
from tests.server.test_kill_actions import assert_explained, await_end_of_work, furnish, pause

FAILOVERS = int(os.environ.get("FAILOVERS", "1"))
MAX_SECONDS = 0.5  # from the promotion to the first signal that is acknowledged
IS_SYNCHRONOUS = "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'"


class Pair:
    """Sends the requests to both processes in turn."""

    def __init__(self, *processes: Process) -> None:
        self._processes = itertools.cycle(processes)

    def request(self, *arguments: Any, **more: Any) -> Any:
        return next(self._processes).request(*arguments, **more)


def require_standby(primary: PostgresServer) -> None:
    """From now on commits wait for the standby."""
    primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.ask("SELECT pg_reload_conf()")
    until(lambda: primary.ask(IS_SYNCHRONOUS) == [(True,)], "a synchronous standby")


def test_failovers_lose_nothing_and_repeat_nothing():
    ports = itertools.cycle((find_free_port(), find_free_port()))
    with contextlib.ExitStack() as stack:

        def start(copy_of: PostgresServer | None = None) -> PostgresServer:
            server = postgres_server(copy_of=copy_of, port=next(ports))
            return stack.enter_context(server)

        primary = start()
        primary.ask("CREATE ROLE app SUPERUSER LOGIN PASSWORD 'pw'")
        standby = start(primary)
        environ = OPEN_LIMITS | {
            "DATABASE_HOST": f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}",
            "DATABASE_USERNAME": "app",
            "DATABASE_PASSWORD": "pw",
            "DATABASE_NAME": "postgres",
        }
        nodes = [stack.enter_context(run_service(environ)) for _ in range(2)]
        seconds = []
        with Load(Pair(*nodes), furnish(nodes[0])) as load:
            for _ in range(FAILOVERS):
                require_standby(primary)
                load.wait_for_acks(50)
                pause()
                primary.kill()
                standby.ask("SELECT pg_promote()")
                promoted_at = time.monotonic()
                load.wait_for_acks(1)
                seconds.append(load.last_ack - promoted_at)
                primary, standby = standby, start(standby)
            load.wait_for_acks(20)
        assert all(node.is_running() for node in nodes)
        assert all("Traceback" not in node.stderr for node in nodes)
        open_connection: Callable[[], Any] = primary.connect
        await_end_of_work(open_connection)
        assert_explained(open_connection(), load)
        assert statistics.median(seconds) < MAX_SECONDS, seconds
