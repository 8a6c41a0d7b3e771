"""SIGKILL of processes that send events of integrations: none is lost, and the order stays."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import threading
import time
from pathlib import Path

from sigservice.outgoing.post import TOTAL_SECONDS
from tests.integrations_kit import ADDONS, FEATURES, make_body
from tests.receiver import receiving
from tests.repository.kit import run
from tests.server.kills import Pair, await_more, connect, count_kills, embedded
from tests.server.process import run_service, until
from tests.waiting import DEADLINE_SECONDS

# A lease lasts 35 s. A process that runs and has quick receivers extends or ends it within 5 s.
END_LEASES = """UPDATE integration_leases SET leased_until = 'epoch'
WHERE leased_until BETWEEN now() AND now() + interval '28 s'"""


def test_kills_lose_no_event_and_keep_the_order(data: Path):
    environ = embedded(data) | {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}
    created, stop, kills = [], threading.Event(), count_kills(2)
    with contextlib.ExitStack() as stack:
        receivers = [stack.enter_context(receiving()) for _ in range(3)]
        pair = Pair(environ, stack, 5)
        for one in receivers:
            status, answer = pair.processes[0].request("POST", ADDONS, make_body(f"{one.url}/"))
            assert status == 201, answer

        def make_changes() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                with contextlib.suppress(OSError, http.client.HTTPException):
                    name = f"flag-{number}"
                    status, _ = pair.processes[number % 2].request("POST", FEATURES, {"name": name})
                    if status == 201:
                        created.append(name)

        thread = threading.Thread(target=make_changes)
        thread.start()
        try:
            for _ in range(kills):
                await_more(lambda: len(created), pair.chance.randrange(20, 60), "change")
                pair.kill_one()
        finally:
            stop.set()
            thread.join(DEADLINE_SECONDS)
        conn = stack.enter_context(contextlib.closing(connect(data)))
        for one in receivers:
            await_names(one, set(created), conn)
            ids = [json.loads(request.body)["id"] for request in one.requests]
            assert list(dict.fromkeys(ids)) == sorted(set(ids))
            assert len(ids) - len(set(ids)) <= kills, "only what was being sent is sent again"


def test_a_stop_does_not_wait_for_a_receiver_and_the_event_is_sent_after_the_start(data: Path):
    environ = embedded(data) | {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}
    with receiving() as receiver:
        receiver.hold = threading.Event()
        with run_service(environ) as process:
            process.request("POST", ADDONS, make_body(f"{receiver.url}/"))
            process.request("POST", FEATURES, {"name": "flag-1"})
            until(lambda: receiver.requests, "the first attempt")
            started_at = time.monotonic()
            process.send(signal.SIGTERM)
            assert process.wait() == 0
            assert time.monotonic() - started_at < TOTAL_SECONDS
        receiver.hold.set()
        with run_service(environ), contextlib.closing(connect(data)) as conn:
            run(conn, END_LEASES.replace("28 s", "35 s"))
            until(lambda: len(receiver.requests) == 2, "the second attempt")
        first, second = (one.headers["webhook-id"] for one in receiver.requests)
        assert first == second


def await_names(receiver, names, conn):
    """As long as events arrive: a slow machine may need minutes for the rest."""
    count, missing = 0, set(names)
    while missing:
        what = f"the next of {len(missing)} events"
        until(lambda count=count: run(conn, END_LEASES) or len(receiver.requests) > count, what)
        arrived = receiver.requests[count:]
        count += len(arrived)
        missing -= {json.loads(request.body)["featureName"] for request in arrived}
