"""A reset service is as new: nothing that an earlier request has left can be reached from it."""

from __future__ import annotations

import gc
import types
from contextlib import closing
from dataclasses import fields
from typing import Any

import pytest

from sigservice.testing import FakeClock, reset
from tests.conftest import ADMIN
from tests.repository.kit import run

# What a service keeps: it holds no state of requests.
STATELESS = {"config", "database", "passwords"}
# Their referents are the program, not the state of a service.
PROGRAM = (type, types.ModuleType, types.CodeType, str, bytes, int)


def find_reachable(root: Any) -> set[int]:
    """The ids of all objects that can be reached from `root`."""
    reachable, pending = set(), [root]
    while pending:
        item = pending.pop()
        if id(item) in reachable or isinstance(item, PROGRAM):
            continue
        reachable.add(id(item))
        if isinstance(item, types.FunctionType):  # its globals are the program
            pending += [*(item.__closure__ or ()), *(item.__defaults__ or ()), item.__dict__]
        else:
            pending += gc.get_referents(item)
    return reachable


def test_reset_service_reaches_nothing_of_its_earlier_state(service, web, make, database):
    make.token(make.endpoint())
    web.get("/sign-in")
    web.get("/api/client/features", headers=ADMIN, expect_errors=True)
    before = {
        field.name: getattr(service.context, field.name)
        for field in fields(service.context)
        if field.name not in STATELESS
    }
    reset(service, database, FakeClock())
    web_after = find_reachable(service)
    leftovers = [
        name for name, part in before.items() if part is not None and id(part) in web_after
    ]
    assert leftovers == []


def test_reset_service_has_only_the_rows_of_a_new_one(service, web, make, database):
    make.endpoint()
    reset(service, database)
    answer = web.get("/api/admin/signal-endpoints", headers=ADMIN)
    assert answer.json["signalEndpoints"] == []


def test_started_service_is_not_reset(make_service, database):
    service = make_service({"server": {"port": 0, "host": "127.0.0.1"}})
    service.start()
    with pytest.raises(RuntimeError):
        reset(service, database)


def count_rows(database):
    """The number of rows of each table that has some."""
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    with closing(database.connect()) as conn:
        counts = {
            name: run(conn, f"SELECT count(*) FROM {name}")[0][0] for (name,) in run(conn, query)
        }
    return {name: count for name, count in counts.items() if count}


def test_rows_that_are_brought_back_are_those_that_a_new_service_makes(
    make_service, database, cast, clock
):
    database.empty()
    service = make_service()  # on the rows that were saved for `cast`
    brought_back = count_rows(database)
    cast.signed_in("ada").get("/", status=200)
    reset(service, database, clock)
    assert count_rows(database) == brought_back


def test_rows_of_a_test_keep_the_rows_of_a_new_service_away(make_service, database):
    make_service()
    with closing(database.connect()) as conn:
        run(conn, "DELETE FROM strategy_types")
    make_service()
    assert "strategy_types" not in count_rows(database)
