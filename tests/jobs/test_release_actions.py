"""Action sets that hold and roll back releases."""

from __future__ import annotations

import pytest

from tests.actions_kit import SETS
from tests.conftest import ADMIN
from tests.jobs.release_kit import RESOLVED, Releases


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


def add_set(kit, kind, **options):
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    actor = kit.post("/api/admin/service-account", account, 201)["id"]
    endpoint = kit.endpoint()
    params = {"environment": "production", "featureName": "checkout"}
    body = {
        "name": "guard checkout",
        "actorId": actor,
        "match": {
            "source": "signal-endpoint",
            "sourceId": endpoint["id"],
            "payload": {"status": {"operator": "IN", "values": ["firing"]}},
        },
        "actions": [{"action": kind, "sortOrder": 1, "executionParams": params}],
        "options": options,
    }
    action_set = kit.post(SETS, body, 201)
    return f"{SETS}/{action_set['id']}/events"


def read_run(kit, path):
    (run, *_) = kit.web.get(path, headers=ADMIN).json["actionSetEvents"]
    return run["state"], run["actionSet"]["actions"][0]["details"]


def test_an_action_set_holds_a_release(kit):
    runs = add_set(kit, "HOLD_RELEASE")
    release = kit.create()
    kit.signal("firing")
    assert kit.state(release) == ("held", "person", 1)
    text = "Held checkout in production at 1%: The action set guard checkout ran."
    assert read_run(kit, runs) == ("success", text)
    assert kit.events(release)[-1]["actor"] == "robot"


@pytest.mark.parametrize(("resumes", "held_by"), [(True, "person"), (False, "guard")])
def test_a_release_that_a_guard_would_resume_stays_on_hold(kit, resumes, held_by):
    release = kit.create(guards=[kit.guard(kit.endpoint("others"), "hold", autoResume=resumes)])
    kit.signal("firing")
    guarding = kit.endpoint_name, kit.token
    add_set(kit, "HOLD_RELEASE")
    kit.signal("firing")
    assert kit.state(release) == ("held", held_by, 1)
    kit.endpoint_name, kit.token = guarding
    kit.signal("resolved")
    kit.wait(1)
    assert kit.state(release) == ("held", held_by, 1)


def test_an_action_set_rolls_back_and_its_auto_revert_starts_nothing_again(kit):
    add_set(kit, "ROLL_BACK_RELEASE", restoreWhenResolved=RESOLVED)
    release = kit.create()
    kit.wait(10)
    kit.signal("firing")
    assert kit.state(release) == ("rolledBack", None, 0)
    kit.signal("resolved")
    kit.wait(30)
    assert kit.state(release) == ("rolledBack", None, 0)


@pytest.mark.parametrize("kind", ["HOLD_RELEASE", "ROLL_BACK_RELEASE"])
def test_without_a_release_there_is_nothing_to_do(kit, kind):
    runs = add_set(kit, kind)
    kit.signal("firing")
    assert read_run(kit, runs) == ("success", "checkout in production has no such release.")
