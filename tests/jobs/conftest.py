"""A service whose mails are sent when the test says so, and the server that takes them."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
import webtest
from psycopg2.extras import RealDictCursor as Dicts

from sigservice.jobs import mails as job
from sigservice.services import outbox
from tests.application.test_app import Log
from tests.conftest import ADMIN
from tests.mail_server import mail_server
from tests.prometheus_script import serve_prometheus
from tests.receiver import receiving
from tests.waiting import until

URL = "https://flags.example/sub"
USERS = "/api/admin/user-admin"
ASK = "/auth/reset/password-email"


class Post:
    """A service with a mail server, whose jobs run when the test says so."""

    def __init__(self, service, database, clock, lines):
        self.service, self.clock, self.lines = service, clock, lines
        self.web = webtest.TestApp(service.app)
        self._database = database
        self._addresses = iter(range(1, 250))

    def user(self, name="bo", status=201, **more):
        body = {"username": name, "email": f"{name}@example.com", "sendEmail": False} | more
        return self.web.post_json(USERS, body, headers=ADMIN, status=status).json

    def ask(self, email="bo@example.com", status=200):
        """From an address of its own, so that the limit of addresses does not meet it."""
        place = {"REMOTE_ADDR": f"10.0.0.{next(self._addresses)}"}
        return self.web.post_json(ASK, {"email": email}, extra_environ=place, status=status)

    def send(self):
        return job.run_once(self.service.context)

    def rows(self, statement="SELECT * FROM outbox ORDER BY id", *values):
        with closing(self._database.connect()) as conn, conn.cursor(cursor_factory=Dicts) as cursor:
            cursor.execute(statement, values)
            return [dict(row) for row in cursor.fetchall()]

    def states(self):
        return [(outbox.describe_state(row), row["last_error"]) for row in self.rows()]

    def status_of(self, link):
        path = f"/auth/reset/validate?token={link.partition('=')[2]}"
        return self.web.get(path, expect_errors=True).status_int


@pytest.fixture
def mails():
    with mail_server() as one:
        yield one


@pytest.fixture
def make_post(make_service, database, clock):
    def make(mails, **environ):
        log = Log()
        config = {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": str(mails.port)}
        config |= {"EMAIL_SENDER": "Flags <flags@example.com>", "SERVICE_URL": URL}
        service = make_service({"getLogger": log}, config | environ)
        return Post(service, database, clock, log.lines)

    return make


@pytest.fixture
def post(make_post, mails):
    return make_post(mails)


def await_first_look(service, jobs):
    """Returns when each of the running jobs has run once."""

    def all_ran():
        text = service.context.telemetry.write_exposition().decode()
        counts = re.findall(r'scheduler_duration_seconds_count\{jobId="(.+?)"\} (\d+)', text)
        return {job.name for job in jobs} <= {name for name, count in counts if int(count)}

    until(all_ran, "the first look")


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


@pytest.fixture
def prometheus():
    with serve_prometheus() as script:
        yield script
