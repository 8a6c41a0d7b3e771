"""The primary dies under load, and its synchronous standby becomes the primary: two processes lose
nothing that they have acknowledged, act once, and need no restart. Or it doesn't answer any longer,
as after the loss of a cable, which ends no connection.

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

from tests.db.test_failover import replay_all
from tests.postgres_server import PostgresServer, postgres_server
from tests.server.kills import Load, pause
from tests.server.process import OPEN_LIMITS, Process, find_free_port, run_service, until
from tests.server.test_kill_actions import assert_explained, await_end_of_work, furnish
from tests.server.test_streams import Stream
from tests.tcp_proxy import tcp_proxy

FAILOVERS = int(os.environ.get("FAILOVERS", "1"))
MAX_SECONDS = 0.5  # from the promotion to the first signal that is acknowledged
LISTENING = "SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN sigservice_revisions'"
IS_SYNCHRONOUS = "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
CLIENT_TOKEN = {"tokenName": "sdk", "type": "client", "environment": "development"}


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


def test_process_leaves_a_primary_that_is_silent_and_announces_changes_of_the_next_one():
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(postgres_server())
        primary.ask("CREATE ROLE app SUPERUSER LOGIN PASSWORD 'pw'")
        standby = stack.enter_context(postgres_server(copy_of=primary))
        proxy = stack.enter_context(tcp_proxy(primary.port))
        environ = OPEN_LIMITS | {
            "DATABASE_HOST": f"127.0.0.1:{proxy.port},127.0.0.1:{standby.port}",
            "DATABASE_USERNAME": "app",
            "DATABASE_PASSWORD": "pw",
            "DATABASE_NAME": "postgres",
        }
        node = stack.enter_context(run_service(environ))
        token = node.request("POST", "/api/admin/api-tokens", CLIENT_TOKEN)[1]["secret"]
        stream = stack.enter_context(Stream(node, token))
        stream.read_until(b"unleash-connected")
        until(lambda: primary.ask(LISTENING) == [(1,)], "the connection for notifications")
        replay_all(primary, standby)
        proxy.swallow()
        standby.ask("SELECT pg_promote()")
        until(lambda: node.request("GET", "/ready")[0] == 200, "the next primary")
        until(lambda: standby.ask(LISTENING) == [(1,)], "its connection for notifications")
        flag = {"name": "after-the-failover"}
        status, _ = node.request("POST", "/api/admin/projects/default/features", flag)
        assert status == 201
        stream.read_until(b"after-the-failover")
        for _ in range(9):
            assert node.request("GET", "/api/client/features", secret=token)[0] == 200
