"""Releases: steps, guards, commands, edits by people, downtimes."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


def test_a_release_without_guards_is_a_timed_ramp(kit):
    release = kit.create()
    assert (release["state"], release["step"], release["rollout"]) == ("running", 0, 1)
    assert (release["startRollout"], kit.rollout()) == (0, 1)
    kit.wait(9.5)
    assert kit.rollout() == 1
    kit.wait(0.5)
    assert kit.rollout() == 50
    kit.wait(20)
    now = kit.read(release)
    assert (now["state"], kit.rollout(), now["dueAt"]) == ("running", 100, None)
    assert now["watchUntil"] is not None
    kit.wait(60)
    assert kit.state(release) == ("finished", None, 100)
    types = ["created", "started", "advanced", "advanced", "finished"]
    assert kit.event_types(release) == types


def test_a_step_changes_nothing_but_the_percentage(kit):
    before = kit.read_strategy()
    kit.create()
    kit.wait(10)
    after = kit.read_strategy()
    assert after["parameters"].pop("rollout") == "50"
    before["parameters"].pop("rollout")
    assert after == before


def test_an_alert_rolls_back_in_the_transaction_that_evaluates_it(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.wait(10)
    kit.signal("firing")
    assert kit.state(release) == ("rolledBack", None, 0)
    event = kit.events(release)[-1]
    assert event["type"] == "rolledBack"
    assert event["text"].startswith("Rolled back checkout in production from 50% to 0%: An alert ")


def test_nothing_starts_again_after_a_rollback_although_the_alert_is_resolved(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.signal("firing")
    kit.signal("resolved")
    kit.wait(120)
    assert kit.state(release) == ("rolledBack", None, 0)
    assert kit.event_types(release).count("rolledBack") == 1


def test_an_alert_rolls_back_during_the_watch_after_the_last_step(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.wait(40)
    assert kit.rollout() == 100
    kit.signal("firing")
    assert kit.state(release) == ("rolledBack", None, 0)


def test_an_alert_rolls_back_a_held_release(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.command(release, "hold")
    kit.signal("firing")
    assert kit.state(release) == ("rolledBack", None, 0)


def test_an_alert_that_matches_no_filter_changes_nothing(kit):
    filters = [{"path": "service", "operator": "IN", "values": ["checkout"]}]
    release = kit.create(guards=[kit.guard(kit.endpoint(), filters=filters)])
    kit.signal("firing", service="search")
    assert kit.state(release) == ("running", None, 1)
    kit.signal("firing", service="checkout")
    assert kit.state(release) == ("rolledBack", None, 0)


def test_the_template_of_the_sender_says_what_fires_and_resolves(kit):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    guard = {"kind": "signal", "endpointId": endpoint["id"], "effect": "hold", "autoResume": True}
    release = kit.create(guards=[guard])
    kit.signal("firing")
    assert kit.state(release) == ("held", "guard", 1)
    kit.signal("resolved")
    assert kit.state(release) == ("running", None, 1)


def test_a_guard_that_holds_does_not_resume_unless_it_says_so(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing")
    kit.signal("resolved")
    kit.wait(60)
    assert kit.state(release) == ("held", "guard", 1)
    kit.command(release, "resume")
    kit.wait(10)
    assert kit.rollout() == 50


def test_the_lane_of_a_guard_is_red_while_its_alert_fired(kit, cast):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing")
    kit.jump(90)
    kit.signal("resolved")
    path = f"/admin/features/checkout/environments/production/releases/{release['id']}"
    bars = cast.signed_in("ada").get(path).html.select(".recorder rect")
    assert [len(bars), sum("broken" in bar.get("class", ()) for bar in bars)] == [48, 47]


def test_a_guard_resumes_three_times_at_most(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold", autoResume=True)])
    for _ in range(3):
        kit.signal("firing")
        kit.signal("resolved")
        assert kit.read(release)["state"] == "running"
    kit.signal("firing")
    kit.signal("resolved")
    assert kit.state(release) == ("held", "guard", 1)


def test_a_release_without_data_waits_for_a_person_although_a_guard_resumes(kit):
    silent = kit.endpoint("silent")
    guards = [kit.guard(silent), kit.guard(kit.endpoint(), "hold", autoResume=True)]
    release = kit.create(guards=guards, noDataMinutes=0)
    kit.post(f"/api/admin/signal-endpoints/{silent['id']}/off")
    kit.progress()
    assert kit.state(release) == ("held", "noData", 1)
    kit.signal("firing")
    kit.post(f"/api/admin/signal-endpoints/{silent['id']}/on")
    kit.signal("resolved")
    kit.progress()
    assert kit.state(release) == ("held", "noData", 1)


def test_an_alert_whose_key_begins_like_a_signal_fires_until_it_resolves(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing", "signal loss")
    kit.command(release, "resume", status=409)
    kit.signal("resolved", "signal loss")
    assert kit.command(release, "resume")["state"] == "running"


def test_alerts_with_long_keys_are_told_apart_and_stored_short(kit, rows):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    keys = ["a" * 50_000, "a" * 50_000 + "b"]
    for key in keys:
        kit.signal("firing", key)
    assert rows("SELECT length(keys::text) FROM release_guards")[0][0] < 1000
    kit.signal("resolved", keys[0])
    kit.command(release, "resume", status=409)
    kit.signal("resolved", keys[1])
    assert kit.command(release, "resume")["state"] == "running"


def test_a_release_is_held_until_all_alerts_are_resolved(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing", "a")
    kit.signal("firing", "b")
    kit.signal("resolved", "a")
    kit.command(release, "resume", status=409)
    kit.signal("resolved", "b")
    assert kit.command(release, "resume")["state"] == "running"


def test_an_alert_that_nothing_resolves_fires_until_a_person_resumes(kit):
    guard = kit.guard(kit.endpoint(), "hold")
    del guard["resolved"]
    release = kit.create(guards=[guard])
    kit.signal("firing")
    assert kit.state(release) == ("held", "guard", 1)
    assert kit.command(release, "resume")["state"] == "running"
    assert kit.event_types(release)[-1] == "resumed"


def test_a_guard_of_a_dry_run_only_says_what_it_would_have_done(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), dryRun=True)])
    kit.signal("firing")
    kit.wait(10)
    assert kit.state(release) == ("running", None, 50)
    assert kit.event_types(release)[2:4] == ["guardFired", "wouldRollBack"]


def test_a_guard_without_data_stops_the_steps_and_then_holds(kit):
    endpoint = kit.endpoint()
    release = kit.create(guards=[kit.guard(endpoint)])
    kit.post(f"/api/admin/signal-endpoints/{endpoint['id']}/off")
    kit.wait(29.5)
    assert kit.state(release) == ("running", None, 1)
    kit.wait(1)
    assert kit.state(release) == ("held", "noData", 1)
    kit.post(f"/api/admin/signal-endpoints/{endpoint['id']}/on")
    kit.wait(1)
    kit.command(release, "resume")
    kit.wait(1)
    assert kit.rollout() == 50


def test_a_downtime_over_two_steps_takes_one_step_at_a_time(kit):
    release = kit.create()
    kit.jump(60)
    kit.progress()
    assert kit.rollout() == 50
    kit.progress()
    assert kit.rollout() == 50
    kit.wait(20)
    assert kit.rollout() == 100
    assert kit.event_types(release).count("advanced") == 2


def test_a_step_that_waits_for_a_person_is_held_until_it_is_advanced(kit):
    steps = [{"rollout": 1, "minutes": 10, "waitForPerson": True}, {"rollout": 100}]
    release = kit.create(steps=steps)
    kit.wait(30)
    assert kit.state(release) == ("held", "step", 1)
    kit.command(release, "resume", status=409)
    assert kit.command(release, "advance", step=0)["rollout"] == 100
    kit.command(release, "advance", step=0, status=409)
    assert kit.command(release, "advance", step=1)["state"] == "finished"


def test_advance_is_refused_while_a_guard_fires_and_before_it_has_watched(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.command(release, "advance", status=409)
    kit.wait(0.5)
    kit.command(release, "advance")
    kit.signal("firing")
    kit.command(release, "advance", status=409)
    assert kit.state(release) == ("held", "guard", 50)


def test_an_edit_by_a_person_holds_and_is_adopted_or_restored(kit):
    release = kit.create()
    kit.edit_strategy(rollout="30")
    kit.progress()
    assert kit.state(release) == ("held", "edit", 30)
    kit.command(release, "resume", status=400)
    kit.command(release, "resume", adopt=True)
    kit.wait(10)
    assert kit.rollout() == 50
    kit.edit_strategy(rollout="20", stickiness="userId")
    kit.progress()
    kit.command(release, "resume", adopt=False)
    assert kit.state(release) == ("running", None, 50)
    assert kit.read_strategy()["parameters"]["stickiness"] == "default"
    edited = next(event for event in kit.events(release) if event["type"] == "edited")
    assert edited["reason"] == "The percentage was changed from 1% to 30%."


def test_an_edit_wins_over_a_step_that_is_due_at_the_same_time(kit):
    release = kit.create()
    kit.jump(10)
    kit.edit_strategy(rollout="7")
    kit.progress()
    assert kit.state(release) == ("held", "edit", 7)


def test_an_adopted_percentage_continues_with_the_step_that_it_has_reached(kit):
    release = kit.create()
    kit.edit_strategy(rollout="60")
    kit.progress()
    assert kit.command(release, "resume", adopt=True)["step"] == 1
    kit.wait(20)
    assert kit.rollout() == 100


@pytest.mark.parametrize("change", ["off", "strategy"])
def test_a_disabled_flag_and_another_strategy_are_edits(kit, change):
    release = kit.create()
    if change == "off":
        kit.post(f"{kit.place}/off")
    else:
        kit.add_strategy("userWithId", userIds="1")
    kit.progress()
    assert kit.state(release) == ("held", "edit", 1)


def test_what_harms_no_release_is_no_edit(kit):
    kit.post(f"{kit.place}/off")
    other = kit.add_strategy("userWithId", userIds="1")
    release = kit.create()
    kit.post(f"{kit.place}/on")
    kit.web.delete(f"{kit.place}/strategies/{other['id']}", headers=ADMIN)
    kit.wait(10)
    assert kit.state(release) == ("running", None, 50)


def test_a_deleted_strategy_and_an_archived_flag_stop_the_release(kit):
    release = kit.create()
    kit.web.delete(f"{kit.place}/strategies/{kit.strategy['id']}", headers=ADMIN)
    kit.progress()
    assert kit.read(release)["state"] == "stopped"
    kit.strategy = kit.add_strategy(rollout=0)
    release = kit.create()
    kit.web.delete("/api/admin/projects/default/features/checkout", headers=ADMIN)
    kit.progress()
    assert kit.read(release)["state"] == "stopped"


@pytest.mark.parametrize("state", ["on", "off"])
def test_a_release_is_stopped_when_its_project_no_longer_uses_the_environment(kit, state):
    kit.post(f"{kit.place}/{state}")
    kit.create(guards=[kit.guard(kit.endpoint())])
    environments = "/api/admin/projects/default/environments"
    kit.web.delete(f"{environments}/production", headers=ADMIN)
    kit.progress()
    kit.web.post_json(environments, {"environment": "production"}, headers=ADMIN)
    kit.wait(15)
    (release,) = kit.get("/api/admin/releases")["releases"]
    assert kit.state(release) == ("stopped", None, 1)


def test_a_stop_leaves_the_percentage(kit):
    release = kit.create()
    assert kit.command(release, "stop")["state"] == "stopped"
    kit.wait(30)
    assert kit.rollout() == 1
    kit.command(release, "hold", status=409)


def test_a_rollback_by_a_guard_never_raises_the_percentage(kit):
    kit.edit_strategy(rollout="20")
    guard = kit.guard(kit.endpoint())
    release = kit.create(steps=[{"rollout": 30, "minutes": 5}, {"rollout": 100}], guards=[guard])
    kit.edit_strategy(rollout="5")
    kit.signal("firing")
    assert kit.state(release) == ("rolledBack", None, 5)


def test_a_scheduled_release_starts_at_its_time(kit):
    start_at = kit.clock.now().timestamp() + 3600
    from datetime import UTC, datetime

    release = kit.create(startAt=datetime.fromtimestamp(start_at, UTC).isoformat())
    assert kit.state(release) == ("scheduled", None, 0)
    kit.wait(59)
    assert kit.state(release) == ("scheduled", None, 0)
    kit.wait(1.5)
    assert kit.state(release) == ("running", None, 1)


def test_a_frozen_release_neither_starts_nor_advances_but_rolls_back(kit):
    endpoint = kit.endpoint()
    running = kit.create(guards=[kit.guard(endpoint)])
    kit.post("/api/admin/emergency", {"freezeReleases": True, "reason": "incident"})
    kit.wait(15)
    assert kit.rollout() == 1
    kit.command(running, "advance", status=409)
    kit.command(running, "hold")
    kit.command(running, "resume", status=409)
    kit.signal("firing")
    assert kit.state(running) == ("rolledBack", None, 0)
    kit.signal("resolved")
    scheduled = kit.create()
    assert scheduled["state"] == "scheduled"
    kit.command(scheduled, "start", status=409)
    kit.delete("/api/admin/emergency?what=freeze")
    kit.progress()
    assert kit.state(scheduled) == ("running", None, 1)


def test_two_processes_take_each_step_once(kit, make_service):
    kit.services.append(make_service())
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.wait(10)
    assert kit.event_types(release).count("advanced") == 1
    kit.signal("firing")
    assert kit.event_types(release).count("rolledBack") == 1


def test_silence_of_an_endpoint_fires_its_guard(kit):
    from tests.jobs.silence_kit import Silence

    silence = Silence.__new__(Silence)
    silence.services, silence.clock, silence.web = kit.services, kit.clock, kit.web
    silence.make, silence.tokens = kit.make, {}
    endpoint = silence.endpoint()
    silence.send()
    source = {"kind": "silence", "endpointId": endpoint["id"], "everySeconds": 300}
    guard = {"kind": "rule", "rule": {"source": source}, "effect": "rollBack"}
    release = kit.create(guards=[guard])
    silence.wait(240)
    kit.progress()
    assert kit.state(release) == ("running", None, 1)
    silence.wait(180)
    kit.progress()
    assert kit.state(release) == ("rolledBack", None, 0)


def test_no_step_is_taken_while_signals_wait_for_their_evaluation(kit, rows):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.progress()  # the guard is up to date
    kit.alert("firing")
    rows("UPDATE signal_queue SET queued_at = now() - interval '6 seconds'")
    kit.wait(15)
    assert kit.state(release) == ("running", None, 1)
    kit.command(release, "advance", status=409)
    kit.evaluate()
    assert kit.state(release) == ("rolledBack", None, 0)
