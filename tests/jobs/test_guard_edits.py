"""Changes of the guards of a release that has not ended."""

from __future__ import annotations

import pytest

from sigservice.services.releases import guard_edits
from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases
from tests.jobs.rules_kit import RATIO, Rules
from tests.routes.sdk import Sdk

STEPS = [{"rollout": 5, "minutes": 10}, {"rollout": 50, "minutes": 10}, {"rollout": 100}]


@pytest.fixture
def rules(make_service, database, clock):
    return Rules(Sdk(make_service, database), clock)


@pytest.fixture
def kit(rules, clock):
    return Releases(rules.sdk.service, clock, "development")


def rule(effect="rollBack", *, dryRun=False, **changes):
    rule = {"source": RATIO, "above": 0.05, "windowMinutes": 5, "minSamples": 50} | changes
    return {"kind": "rule", "rule": rule, "effect": effect, "dryRun": dryRun}


def edit(kit, release, guards, status=200, **more):
    path = f"{kit.place}/releases/{release['id']}/guards"
    return kit.put(path, {"guards": guards, **more}, status)


def test_a_limit_changes_with_one_sentence_in_the_log_and_the_audit_log(kit, rules):
    rules.report(errors=1, requests=100)
    source = {"kind": "silence", "endpointId": kit.endpoint("heartbeat")["id"], "everySeconds": 60}
    silence = {"kind": "rule", "rule": {"source": source}, "effect": "hold", "dryRun": True}
    release = kit.create(steps=STEPS, guards=[rule(), kit.guard(kit.endpoint()), silence])
    before = release["guards"]
    after = edit(
        kit,
        release,
        [before[1], rule(above=0.08)],  # as it was read, in another order
        reason="SHOP-1501",
        guardIds=[guard["id"] for guard in before],
        step=0,
    )
    same, changed = after["guards"]
    assert same == before[1]
    assert changed["rule"]["above"] == changed["limit"] == 0.08
    assert (changed["state"], changed["value"], changed["samples"]) == ("ok", 0.01, 100)
    event = kit.events(release)[-1]
    assert (event["type"], event["actor"]) == ("guardsEdited", "admin")
    assert event["text"] == (
        "Edited guards of checkout in development: changed the limit of errors per requests from "
        "0.05 to 0.08; removed Silence of heartbeat: SHOP-1501."
    )
    logged = kit.get("/api/admin/events/checkout")["events"][0]
    assert logged["type"] == "release-guards-edited"
    assert logged["data"]["text"] == event["text"]


def test_what_changed_of_a_guard_is_named(kit, rules):
    rules.report(errors=1, requests=100)
    alert = kit.guard(kit.endpoint())
    release = kit.create(steps=STEPS, guards=[alert, rule()])
    filters = [{"path": "severity", "operator": "IN", "values": ["page"]}]
    changed = [
        alert | {"filters": filters, "effect": "hold"},
        rule("hold", dryRun=True, windowMinutes=3, breaches=2),
    ]
    edit(kit, release, [*changed, kit.guard(kit.endpoint("pager"))])
    assert kit.events(release)[-1]["reason"] == (
        "changed the effect of Alerts of alerts from roll back to hold, its "
        "filters; changed the effect of errors per requests from roll back to hold, its dry run "
        "from off to on, its window from 5 min to 3 min, its breaches in a row from 1 to 2; added "
        "Alerts of pager"
    )


def test_the_same_guards_again_change_nothing_and_record_nothing(kit):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    bare = {"kind": "signal", "endpointId": endpoint["id"], "effect": "hold"}
    release = kit.create(guards=[bare])
    count = len(kit.events(release))
    assert edit(kit, release, [bare])["guards"] == release["guards"]
    assert edit(kit, release, release["guards"])["guards"] == release["guards"]
    assert len(kit.events(release)) == count


def test_a_firing_guard_stays_as_it_is_but_no_new_one_may_fire(kit):
    firing, quiet = kit.endpoint("firing"), kit.endpoint("quiet")
    hold = kit.guard(firing, "hold")
    release = kit.create(steps=STEPS, guards=[hold])
    kit.endpoint_name, kit.token = "firing", kit.make.token(firing, "again")["token"]
    kit.signal("firing")
    assert kit.state(release) == ("held", "guard", 5)
    error = edit(kit, release, [hold | {"effect": "rollBack"}], 400)
    assert error["details"][0]["path"] == "guards[0]"
    assert "fires now" in error["details"][0]["message"]
    after = edit(kit, release, [hold, kit.guard(quiet)])
    assert after["guards"][0]["state"] == "firing"
    assert (after["state"], after["heldBy"]) == ("held", "guard")
    kit.signal("resolved")
    kit.wait(1)
    assert kit.read(release)["guards"][0]["state"] == "ok"


def test_a_release_whose_guard_is_removed_stays_held_until_a_person_continues(kit):
    guard = kit.guard(kit.endpoint(), "hold", autoResume=True)
    release = kit.create(steps=STEPS, guards=[guard])
    kit.signal("firing")
    edit(kit, release, [])
    kit.wait(30)
    assert kit.state(release) == ("held", "guard", 5)
    kit.command(release, "resume")
    assert kit.state(release)[0] == "running"


def test_steps_still_to_come_must_be_long_enough_for_new_guards(kit, rules):
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS)
    error = edit(kit, release, [rule(windowMinutes=30)], 400)
    message = "The guards need at least 32 minutes for each step."
    assert error["details"] == [{"message": message, "path": "steps[1].minutes"}]
    kit.wait(10)
    assert edit(kit, release, [rule(windowMinutes=30)])["step"] == 1


def test_a_scheduled_release_checks_its_first_step_too(kit, rules):
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS, startAt=f"{kit.clock.now().year + 1}-01-01T00:00:00Z")
    error = edit(kit, release, [rule(windowMinutes=30)], 400)
    paths = [detail["path"] for detail in error["details"]]
    assert paths == ["steps[0].minutes", "steps[1].minutes"]


def test_a_new_guard_rolls_back_and_a_removed_one_does_not(kit):
    first, second = kit.endpoint("first"), kit.endpoint("second")
    release = kit.create(steps=STEPS, guards=[kit.guard(first)])
    edit(kit, release, [kit.guard(second)])
    kit.endpoint_name, kit.token = "first", kit.make.token(first, "again")["token"]
    kit.signal("firing")
    assert kit.state(release) == ("running", None, 5)
    kit.endpoint_name, kit.token = "second", kit.make.token(second, "again")["token"]
    kit.signal("firing")
    assert kit.state(release) == ("rolledBack", None, 0)


@pytest.mark.parametrize("is_new", [True, False])
def test_an_alert_that_arrives_during_the_change_is_not_lost(kit, monkeypatch, is_new):
    """Nothing queued it for a guard that was not committed yet, or it was matched with the old
    one."""
    endpoint = kit.endpoint()
    old = [] if is_new else [kit.guard(endpoint, "hold")]
    release = kit.create(steps=STEPS, guards=old)
    read = guard_edits.describe_edit

    def alert(*args):
        kit.alert("firing")
        return read(*args)

    monkeypatch.setattr(guard_edits, "describe_edit", alert)
    edit(kit, release, [kit.guard(endpoint)])
    kit.progress()
    assert kit.state(release) == ("rolledBack", None, 0)
    assert kit.event_types(release).count("rolledBack") == 1


def test_a_change_of_other_guards_than_the_caller_saw_is_refused(kit):
    release = kit.create(steps=STEPS, guards=[kit.guard(kit.endpoint())])
    ids = [guard["id"] for guard in release["guards"]]
    edit(kit, release, [], guardIds=ids)
    edit(kit, release, release["guards"], 409, guardIds=ids)
    edit(kit, release, release["guards"], 409, step=1)
    assert kit.read(release)["guards"] == []


def test_the_guards_of_an_ended_release_stay(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.command(release, "stop")
    edit(kit, release, [], 409)
    assert len(kit.read(release)["guards"]) == 1
    kit.web.put_json(f"{kit.place}/releases/999/guards", {"guards": []}, headers=ADMIN, status=404)


def test_wrong_guards_are_refused(kit):
    release = kit.create(steps=STEPS)
    guard = {"kind": "signal", "endpointId": 999, "effect": "hold"}
    assert edit(kit, release, [guard], 400)["details"][0]["path"] == "guards[0].endpointId"
    invalid = rule("rollBack") | {"autoResume": True}
    assert edit(kit, release, [invalid], 400)["details"][0]["path"] == "guards[0].autoResume"
    six = [kit.guard(kit.endpoint())] * 6
    assert edit(kit, release, six, 400)["details"][0]["path"] == "guards"
