"""Random flags, sets and signals: batches of actions leave the same flags, runs, results, events
as one action at a time.
"""

from __future__ import annotations

import json
import random
import re

import pytest

from sigservice.errors import ConflictError
from sigservice.repository.actions import action_sets
from sigservice.services.actions import action_runs as run_service
from sigservice.services.actions import run_batches
from sigservice.services.flags import features
from sigservice.services.identity import SYSTEM
from tests.repository.kit import (
    add_endpoint,
    add_flag,
    add_project,
    add_service_account,
    add_set,
    add_strategy,
    attempt,
    run,
)
from tests.samples import sample

FLAGS = ("a", "b", "c", "archived")
TARGETS = (*"abcabcabcabc", "archived", "foreign", "missing")
ENVIRONMENTS = ("development", "production")
VIEWER_ROLE = 3
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
RESOLVED = {"path": "s", "values": ["resolved"], "key": "k"}
DEFAULTS = (*[None] * 4, {"name": "flexibleRollout", "disabled": True}, {"name": "unknown"})
CONTENT = {
    "runs": (
        "SELECT id, action_set_id, project, cause, signal_id, reverts_run_id, reverted_by_run_id, "
        "revert_due_at IS NULL, alert_key, actor_id, state, reason, dry_run, signal, "
        "action_set, next_action, finished_at IS NULL FROM action_runs ORDER BY id"
    ),
    "events": (
        "SELECT type, created_by, created_by_user_id, ip, project, environment, feature_name, "
        "data::jsonb - 'cause', pre_data FROM events ORDER BY starts_with(type, 'action-run-'), id"
    ),
    "flags": "SELECT feature, environment, enabled FROM feature_environments ORDER BY 1, 2",
    "strategies": (
        "SELECT feature, environment, name, disabled, sort_order, parameters "
        "FROM feature_strategies ORDER BY 1, 2, 5, 3"
    ),
    "results": "SELECT signal_id, results FROM signal_results ORDER BY 1",
    "sets": "SELECT id, has_run_once FROM action_sets ORDER BY 1",
    "topics": "SELECT topic FROM revisions WHERE id > 1 ORDER BY 1",
}


class Dice(random.Random):
    def action(self):
        params = {
            "environment": self.choice((*ENVIRONMENTS * 8, "none")),
            "featureName": self.choice(TARGETS),
        }
        kind = self.choice(
            ["TOGGLE_FEATURE_ON", "TOGGLE_FEATURE_OFF"] * 6
            + ["TOGGLE_FEATURES_ON_BY_TAG", "TOGGLE_FEATURES_OFF_BY_TAG", "SET_FEATURE_ROLLOUT"]
            + ["UNKNOWN"]
        )
        params |= {"tag": self.choice(["simple:pay", "simple:web"]), "rollout": self.choice("059")}
        return kind, params

    def options(self):
        options = {
            "continueOnFailure": True,
            "dryRun": True,
            "latch": True,
            "maxRunsPerHour": 3,
            "restoreAfterMinutes": 5,
            "restoreWhenResolved": RESOLVED,
        }
        chances = dict.fromkeys(options, 0.1) | {"continueOnFailure": 0.5, "latch": 0.05}
        return {name: value for name, value in options.items() if self.random() < chances[name]}

    def make_world(self, conn):
        """Returns the IDs of the signals."""
        for name in FLAGS:
            add_flag(conn, name)
        add_project(conn)
        add_flag(conn, "foreign", "other")
        run(conn, "UPDATE features SET archived_at = now() WHERE name = 'archived'")
        for name in FLAGS:
            for environment in ENVIRONMENTS:
                for number in range(self.choice([0, 0, 1, 2])):
                    parameters = json.dumps({"rollout": self.choice(["0", "50"])})
                    add_strategy(
                        conn,
                        f"{name}-{environment}-{number}",
                        name,
                        environment,
                        name=self.choice(["flexibleRollout", "default"]),
                        disabled=self.random() < 0.3,
                        parameters=parameters,
                        sort_order=number,
                    )
            tag = self.choice(["pay", "web"])
            run(
                conn,
                "INSERT INTO tags (type, value) VALUES ('simple', %s) ON CONFLICT DO NOTHING",
                tag,
            )
            run(
                conn,
                "INSERT INTO feature_tags (feature, type, value) VALUES (%s, 'simple', %s)",
                name,
                tag,
            )
        default = self.choice(DEFAULTS)
        run(
            conn,
            "UPDATE project_environments SET default_strategy = %s "
            "WHERE environment = 'production'",
            default and json.dumps(default),
        )
        self._add_sets(conn)
        return self._add_signals(conn)

    def _add_sets(self, conn):
        actors = [add_service_account(conn, name) for name in ("robot", "viewer")]
        run(conn, "UPDATE users SET role_id = %s WHERE id = %s", VIEWER_ROLE, actors[1])
        self.endpoint_id = add_endpoint(conn, "alerts")
        for number in range(6):
            filters = [{"path": "to", "operator": "IN", "values": self.sample("0123", 2)}]
            id = add_set(
                conn,
                f"set {number}",
                actor_id=self.choice([actors[0]] * 20 + [actors[1], 99_999]),
                endpoint_id=self.endpoint_id,
                filters=json.dumps(filters),
                settings=json.dumps(self.options()),
            )
            kinds = [self.action() for _ in range(self.randint(1, 4))]
            actions = [
                {"sortOrder": position, "action": kind, "executionParams": params}
                for position, (kind, params) in enumerate(kinds)
            ]
            action_sets.insert_actions(conn, id, json.dumps(actions), created_by_user_id=1)

    def _add_signals(self, conn):
        states = ["firing", "firing", "resolved"]
        payloads = [
            {"to": self.choice("0123"), "s": self.choice(states), "k": self.choice("kl")}
            for _ in range(40)
        ]
        return [
            run(
                conn,
                "INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes) "
                "VALUES (%s, 1, %s, 9) RETURNING id",
                self.endpoint_id,
                json.dumps(payload),
            )[0][0]
            for payload in payloads
        ]


def play(context, conn, dice, signal_ids, perform):
    """The result of all signals: two waves, with undo, auto-reverts and an archived flag between
    them."""
    run(conn, "SELECT setval('action_runs_id_seq', 1000); UPDATE revisions SET id = 1")
    run(conn, "DELETE FROM events")
    del conn.notes[:]
    logger, middle = context.get_logger("actions"), len(signal_ids) // 2
    for wave in (signal_ids[:middle], signal_ids[middle:], []):
        run(
            conn,
            "INSERT INTO signal_queue (signal_id, endpoint_id) SELECT unnest(%s::bigint[]), %s",
            wave,
            dice.endpoint_id,
        )
        while context.evaluator.evaluate_batch(conn, logger)[0]:
            pass
        perform(conn, logger)
        finished = run(conn, "SELECT id, action_set_id FROM action_runs ORDER BY id")
        for run_id, set_id in dice.sample(finished, min(3, len(finished))):
            try:
                run_service.undo(conn, "default", set_id, run_id, SYSTEM)
            except ConflictError:
                continue
        run(
            conn,
            "UPDATE action_runs SET revert_due_at = 'epoch'::timestamptz + id * interval '1 s' "
            "WHERE revert_due_at IS NOT NULL",
        )
        run_service.start_due_reverts(conn, None)
        if dice.random() < 0.2:
            features.archive(conn, "default", [dice.choice("abc")], SYSTEM)
    perform(conn, logger)
    content = {name: run(conn, statement) for name, statement in CONTENT.items()}
    return normalize(content | {"notes": [list(note) for note in conn.notes]})


def normalize(content):
    """As JSON, without times, with IDs of strategies in the order of their appearance."""
    text, numbers = TIME.sub("time", json.dumps(content, indent=1, sort_keys=True)), {}
    return UUID.sub(lambda match: f"id {numbers.setdefault(match[0], len(numbers))}", text)


def perform_alone(conn, logger):
    steps = [None]
    while steps:
        run_batches.perform_batch(conn, logger, steps := [], is_alone=True)


def perform_batches(conn, logger):
    steps = [None]
    while steps:
        since = steps[-1].run_id if steps[-1] else 0
        run_batches.perform_batch(conn, logger, steps := [], since=since)


@pytest.mark.parametrize("seed", sample(range(8), 2))
def test_batches_leave_what_single_actions_leave(service, seed, monkeypatch):
    context, dice = service.context, Dice(seed)
    monkeypatch.setattr(run_batches, "MAX_SECONDS", 60.0)
    monkeypatch.setattr(run_batches, "MAX_CHANGES", dice.choice([2, 7, 50]))
    with context.database.transaction() as conn:
        signal_ids = dice.make_world(conn)
        state = dice.getstate()
        with attempt(conn):
            expected = play(context, conn, dice, signal_ids, perform_alone)
        dice.setstate(state)
        actual = play(context, conn, dice, signal_ids, perform_batches)
        conn.rollback()
    assert actual.splitlines() == expected.splitlines()
    assert "feature-environment-" in actual
