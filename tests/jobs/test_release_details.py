"""Releases where the specification is easily missed: edits, texts, the audit log, retention."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from sigservice.clock import format_iso
from sigservice.jobs import retention
from sigservice.routes.admin.releases.releases import read_for_guards, read_surroundings
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import SYSTEM
from sigservice.services.releases import releases
from sigservice.services.releases.releases import NewRelease
from tests.conftest import ADMIN
from tests.jobs.release_kit import STEPS, Releases


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


def test_an_adopted_percentage_below_the_first_step_goes_on_to_the_second(kit):
    release = kit.create(steps=[{"rollout": 10, "minutes": 5}, {"rollout": 100}])
    kit.edit_strategy(rollout="3")
    kit.progress()
    now = kit.command(release, "resume", adopt=True)
    assert (now["state"], now["step"], kit.rollout()) == ("running", 0, 3)
    kit.wait(5)
    assert kit.state(release) == ("running", None, 100)


def test_a_random_stickiness_is_not_adopted(kit):
    release = kit.create()
    kit.edit_strategy(stickiness="random")
    kit.progress()
    kit.command(release, "resume", adopt=True, status=409)
    kit.command(release, "resume", adopt=False)
    assert kit.read_strategy()["parameters"]["stickiness"] == "default"


def test_a_scheduled_release_whose_stickiness_became_random_is_held_at_its_percentage(kit):
    start_at = format_iso(kit.clock.now() + timedelta(hours=1))
    release = kit.create(startAt=start_at)
    kit.edit_strategy(stickiness="random")
    kit.wait(61)
    assert kit.state(release) == ("held", "edit", 0)
    for adopt in (True, False):
        kit.command(release, "resume", adopt=adopt, status=409)
    kit.edit_strategy(stickiness="default")
    assert kit.command(release, "resume", adopt=True)["state"] == "running"


def change_parameters(kit, body):
    body["parameters"] |= {"groupId": "other"}


def change_constraints(kit, body):
    body["constraints"] = [{"contextName": "userId", "operator": "IN", "values": ["1"]}]


def change_segments(kit, body):
    users = {"contextName": "userId", "operator": "IN", "values": ["7"]}
    segment = kit.post("/api/admin/segments", {"name": "b", "constraints": [users]}, 201)
    body["segments"] = [segment["id"]]


def change_variants(kit, body):
    body["variants"] = [
        {"name": "red", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    ]


def disable_strategy(kit, body):
    body["disabled"] = True


@pytest.mark.parametrize(
    "change",
    [change_parameters, change_constraints, change_segments, change_variants, disable_strategy],
)
def test_each_change_of_the_strategy_is_an_edit(kit, change):
    release = kit.create()
    strategy = kit.read_strategy()
    body = {name: strategy[name] for name in ("name", "constraints", "parameters")}
    change(kit, body)
    kit.put(f"{kit.place}/strategies/{strategy['id']}", body)
    kit.progress()
    assert kit.state(release) == ("held", "edit", 1)
    kit.command(release, "resume", adopt=True)
    kit.wait(10)
    assert kit.state(release) == ("running", None, 50)


def test_titles_descriptions_and_tags_are_no_edit(kit):
    release = kit.create()
    strategy = kit.read_strategy()
    body = {name: strategy[name] for name in ("name", "constraints", "parameters")}
    kit.put(f"{kit.place}/strategies/{strategy['id']}", body | {"title": "Checkout"})
    feature = "/api/admin/projects/default/features/checkout"
    kit.put(feature, {"name": "checkout", "type": "release", "description": "New."})
    tag = {"type": "simple", "value": "shop"}
    kit.post("/api/admin/features/checkout/tags", tag, 201)
    kit.wait(10)
    assert kit.state(release) == ("running", None, 50)


def test_hold_of_a_held_release_is_refused_with_its_reason(kit):
    release = kit.create()
    kit.command(release, "hold", reason="lunch.")
    error = kit.command(release, "hold", status=409)
    assert error["message"] == "The release is held (person): lunch."


def test_advance_before_the_evidence_says_so(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    error = kit.command(release, "advance", status=409)
    assert error["message"] == "A guard has not watched this step yet."


def test_advance_outside_the_window_is_allowed(kit):
    day = kit.clock.now() + timedelta(days=2)
    window = {"timezone": "UTC", "days": [day.strftime("%a").lower()], "from": "00:00"}
    release = kit.create(window=window | {"to": "23:59"})
    kit.wait(15)
    assert kit.rollout() == 1
    assert kit.command(release, "advance")["rollout"] == 50


def test_the_last_step_is_not_ended_by_a_person_during_a_freeze(kit):
    release = kit.create(steps=[{"rollout": 100}])
    kit.post("/api/admin/emergency", {"freezeReleases": True, "reason": "incident"})
    kit.command(release, "advance", status=409)
    kit.delete("/api/admin/emergency?what=freeze")
    assert kit.command(release, "advance")["state"] == "finished"


def test_a_guard_with_empty_filters_matches_each_signal_that_does_not_resolve(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold", filters=[])])
    kit.signal("resolved")
    assert kit.state(release) == ("running", None, 1)
    kit.signal("anything")
    assert kit.state(release) == ("held", "guard", 1)


def test_a_guard_that_fires_is_named_by_its_position(kit):
    endpoint = kit.endpoint()
    kit.signal("firing")
    gone = kit.guard({"id": 999})
    error = kit.create(status=400, guards=[gone, kit.guard(endpoint)])
    paths = [detail["path"] for detail in error["details"]]
    assert paths == ["guards[0].endpointId", "guards[1]"]


def test_an_event_names_the_signal_that_fired_the_guard(kit):
    endpoint = kit.endpoint()
    release = kit.create(guards=[kit.guard(endpoint, "hold")])
    ids = []
    for key in ("a", "b"):
        kit.signal("firing", key)
        path = f"/api/admin/signal-endpoints/{endpoint['id']}/signals"
        ids.append(kit.get(path)["signalEndpointSignals"][0]["id"])
        kit.signal("resolved", key)
        kit.command(release, "resume")
    guards = [event["guard"] for event in kit.events(release) if event["type"] == "held"]
    assert [guard["signalId"] for guard in guards] == ids
    resolved = [event["guard"] for event in kit.events(release) if event["type"] == "guardOk"]
    assert [guard["signalId"] for guard in resolved] == [None, None]


def test_an_alert_that_arrives_while_a_guard_is_stored_counts(kit):
    body = msgspec.convert({"steps": STEPS, "guards": [kit.guard(kit.endpoint())]}, NewRelease)
    context = kit.services[0].context
    target = FeatureEnvironment("default", "checkout", "production")
    readings = read_for_guards(context, target, body.guards, SYSTEM)
    with context.database.transaction() as conn:
        id = releases.create(conn, target, body, SYSTEM, read_surroundings(context, readings))
        kit.signal("firing")
    assert kit.state({"id": id}) == ("running", None, 1)
    kit.progress()
    assert kit.state({"id": id}) == ("rolledBack", None, 0)


def list_audited_types(kit):
    rows = kit.get("/api/admin/events")["events"]
    names = ("release-", "safeguard-")
    return [row["type"] for row in reversed(rows) if row["type"].startswith(names)]


def test_the_audit_log_has_each_event_and_what_a_guard_triggered(kit):
    kit.create(guards=[kit.guard(kit.endpoint())])
    kit.signal("firing")
    types = ["created", "started", "guard-fired", "rolled-back"]
    assert list_audited_types(kit) == [*(f"release-{t}" for t in types), "safeguard-triggered"]


def test_a_dry_run_triggers_no_safeguard(kit):
    kit.create(guards=[kit.guard(kit.endpoint(), dryRun=True)])
    kit.signal("firing")
    assert list_audited_types(kit)[-2:] == ["release-guard-fired", "release-would-roll-back"]


def test_a_list_with_empty_filters_has_all_releases(kit):
    release = kit.create()
    rows = kit.get("/api/admin/releases?state=&project=")["releases"]
    assert [row["id"] for row in rows] == [release["id"]]


def test_ended_releases_are_deleted_after_their_time_and_their_log_after_its_own(
    kit, rows, monkeypatch
):
    ended, active = kit.create(), None
    kit.command(ended, "rollback")
    active = kit.create()
    rows("UPDATE releases SET finished_at = now() - interval '91 days' WHERE id = %s", ended["id"])
    context = kit.services[0].context
    monkeypatch.setitem(context.config["events"], "retentionDays", 1)
    rows("UPDATE events SET created_at = now() - interval '2 days'")
    retention.run_once(context)
    assert [row["id"] for row in kit.get(f"{kit.place}/releases")["releases"]] == [active["id"]]
    assert kit.event_types(active) == ["created", "started"]
    assert rows("SELECT DISTINCT (data -> 'releaseId')::bigint FROM events") == [(active["id"],)]


def test_an_alert_during_a_downtime_over_two_steps_wins_over_both(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.alert("firing")
    kit.jump(60)
    kit.evaluate()
    kit.progress()
    assert kit.state(release) == ("rolledBack", None, 0)
    assert "advanced" not in kit.event_types(release)


@pytest.mark.parametrize("command", ["start", "hold", "resume", "advance", "rollback", "stop"])
def test_viewers_run_no_command(kit, cast, command):
    release = kit.create()
    vera = cast.signed_in("vera")
    path = f"{kit.place}/releases/{release['id']}/{command}"
    vera.post_json(path, {}, headers={"X-CSRF-Token": vera.csrf}, status=403)
    assert kit.state(release) == ("running", None, 1)


def test_editors_create_hold_go_on_and_roll_back(kit, cast):
    ed = cast.signed_in("ed")
    headers = {"X-CSRF-Token": ed.csrf}
    path = f"{kit.place}/releases"
    guard = kit.guard(kit.endpoint(options={"guardPaths": ["status", "groupKey"]}))
    body = {"steps": STEPS, "guards": [guard]}
    ed.post_json(f"{path}/preview", body, headers=headers, status=200)
    release = ed.post_json(path, body, headers=headers, status=201).json
    kit.clock.advance(60)
    for command in ("hold", "resume", "advance", "rollback"):
        ed.post_json(f"{path}/{release['id']}/{command}", {}, headers=headers, status=200)
    events = kit.web.get(f"{path}/{release['id']}/events", headers=ADMIN).json["events"]
    assert {event["actor"] for event in events} == {"ed"}


def test_a_metric_counts_the_events(kit):
    release = kit.create()
    kit.command(release, "rollback")
    page = kit.web.get("/internal-backstage/prometheus", headers=ADMIN).text
    assert 'release_events_total{type="rolledBack"} 1.0' in page
    assert 'release_events_total{type="started"} 1.0' in page


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("is_stored", [True, False])  # before the release was created
def test_a_late_signal_fires_no_guard(kit, is_known, is_stored):
    endpoint = kit.endpoint(template="alertmanager")
    guards = [kit.guard(endpoint, "hold", autoResume=True)]
    release = None if is_stored else kit.create(guards=guards)
    began = {"startsAt": "2026-01-01T10:00:00Z", "endsAt": "0001-01-01T00:00:00Z"}
    ended = began | {"endsAt": "2026-01-01T10:05:00Z"}
    for status, alert in [("firing", began), ("resolved", ended)][0 if is_known else 1 :]:
        kit.signal(status, alerts=[alert])
    kit.signal("firing", alerts=[began])
    release = release or kit.create(guards=guards)
    kit.signal("firing", alerts=[began])
    assert kit.read(release)["guards"][0]["state"] == "ok"
    kit.signal("firing", alerts=[began | {"startsAt": "2026-01-01T10:06:00Z"}])
    assert kit.state(release)[0] == "held"


def test_an_alert_that_is_repeated_an_hour_after_its_end_fires_the_guard(kit):
    endpoint = kit.endpoint(template="alertmanager")
    release = kit.create(
        guards=[kit.guard(endpoint, "hold")], steps=[{"rollout": 1, "minutes": 600}, *STEPS[-1:]]
    )
    began = {"startsAt": "2026-01-01T10:00:00Z", "endsAt": "0001-01-01T00:00:00Z"}
    kit.signal("resolved", alerts=[began | {"endsAt": "2026-01-01T10:05:00Z"}])
    kit.jump(61)
    kit.signal("firing", alerts=[began])
    assert kit.state(release)[0] == "held"
