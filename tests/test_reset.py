"""A reset service is as new: nothing that an earlier request has left can be reached from it."""

from __future__ import annotations

import gc
import types
from dataclasses import fields
from typing import Any

import pytest

from sigservice.testing import FakeClock, reset
from tests.conftest import ADMIN

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
