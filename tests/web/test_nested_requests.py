"""A request that waits for a group commit runs similar ones in its thread."""

import threading
from io import BytesIO

import pytest
from bottle import request

from sigservice.concurrency.workers import Workers, run_similar_tasks
from sigservice.log import build_line_loggers
from tests.waiting import DEADLINE_SECONDS, until


class Task:
    """A request to the service."""

    kind = "signal"

    def __init__(self, app, path):
        self._app, self._path, self.body = app, path, None

    def service(self):
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": self._path,
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.input": BytesIO(),
            "wsgi.url_scheme": "http",
        }
        self.body = b"".join(self._app(environ, lambda status, headers, error=None: None))

    def cancel(self):
        raise AssertionError("every request runs")


def end_the_worker():
    raise SystemExit


@pytest.mark.parametrize("inner", ["/health", "/ends"])
def test_request_finds_its_own_data_after_those_in_between(make_service, inner):
    may_begin, paths = threading.Event(), []

    def wait():
        may_begin.wait(DEADLINE_SECONDS)
        run_similar_tasks(lambda: False)
        paths.append(request.path)
        return request.path

    def add_routes(root):
        root.get("/waits", callback=wait)
        root.get("/ends", callback=end_the_worker)

    service = make_service({"preHook": add_routes})
    tasks = [Task(service.app, "/waits"), Task(service.app, inner)]
    workers = Workers(1, build_line_loggers("fatal")("test"))
    for task in tasks:
        workers.add_task(task)
    workers.wait(0)
    may_begin.set()
    until(lambda: tasks[0].body is not None, "the response")
    workers.shutdown()
    assert paths == ["/waits"]
    if inner == "/health":
        assert b"GOOD" in tasks[1].body
