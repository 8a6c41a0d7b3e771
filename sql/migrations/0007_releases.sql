-- Alert rules, and releases with their guards.

-- Prometheus and programs with its API. `encrypted_secret` is the password or token of `auth`.
CREATE TABLE metric_sources (
    name text PRIMARY KEY,
    url text NOT NULL,
    auth jsonb NOT NULL,
    headers jsonb NOT NULL,
    timeout_seconds integer NOT NULL,
    encrypted_secret bytea,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- `condition` is the source, limit and window as in the API. A rule that belongs to a guard has neither name nor
-- endpoint. The rest is the result of the last evaluation, by the job `alert rules`: `streak` evaluations in a row
-- were on the other side of the limit, `has_fired` is true from `firing` until the signal `resolved`.
-- `leased_until` is the time until which one process may query the metric source. Of rules on silence,
-- `last_signal_id` and `last_signal_at` are the newest signal that the rule knows, and `alert_key` ties the signals
-- of an alert after the endpoint got another name.
CREATE TABLE alert_rules (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text UNIQUE,
    endpoint_id integer REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    enabled boolean NOT NULL,
    condition jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer,
    due_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00',
    state text NOT NULL DEFAULT 'unknown' CHECK (state IN ('ok', 'firing', 'unknown')),
    since timestamptz NOT NULL DEFAULT now(),
    streak integer NOT NULL DEFAULT 0,
    has_fired boolean NOT NULL DEFAULT false,
    unknown_since timestamptz,
    value double precision,
    samples double precision NOT NULL DEFAULT 0,
    window_from timestamptz,
    window_to timestamptz,
    reason text NOT NULL DEFAULT 'The rule was not evaluated yet.',
    evaluated_at timestamptz,
    last_error text,
    guard_id bigint UNIQUE,
    leased_until timestamptz,
    silent_endpoint_id integer GENERATED ALWAYS AS (
        CASE WHEN condition #>> '{source,kind}' = 'silence' THEN (condition #>> '{source,endpointId}')::integer END
    ) STORED REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    last_signal_id bigint,
    last_signal_at timestamptz,
    alert_key text,
    CHECK (num_nulls(guard_id, name) = 1 AND num_nulls(guard_id, endpoint_id) = 1)
);
CREATE INDEX alert_rules_due_at_idx ON alert_rules (due_at) WHERE enabled;
CREATE INDEX alert_rules_endpoint_id_idx ON alert_rules (endpoint_id);
CREATE INDEX alert_rules_silent_endpoint_idx ON alert_rules (silent_endpoint_id)
WHERE silent_endpoint_id IS NOT NULL;

-- The percentage of a gradual rollout rises in steps while guards watch. `plan` is what the user wrote, without
-- guards. `content` are the strategies and the state of the flag as the release left them: another content was
-- written by another user. `rollout` is the percentage that the release set last.
CREATE TABLE releases (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    feature text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    environment text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    strategy_id text NOT NULL,
    plan jsonb NOT NULL,
    warnings jsonb NOT NULL DEFAULT '[]',
    state text NOT NULL CHECK (state IN ('scheduled', 'running', 'held', 'finished', 'rolledBack', 'stopped')),
    held_by text CHECK (held_by IN ('person', 'guard', 'noData', 'edit', 'step')),
    held_reason text,
    held_guard_id bigint,
    step integer NOT NULL DEFAULT 0,
    rollout integer NOT NULL,
    start_rollout integer NOT NULL,
    rolled_back_from integer,
    content jsonb NOT NULL,
    start_at timestamptz,
    entered_at timestamptz,
    due_at timestamptz,
    evidence_at timestamptz,
    resumed_at timestamptz,
    propagation_seconds integer NOT NULL DEFAULT 15,
    auto_resumes integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    created_by_user_id integer NOT NULL,
    finished_at timestamptz,
    CHECK ((state = 'held') = (held_by IS NOT NULL))
);
CREATE UNIQUE INDEX releases_active_key ON releases (feature, environment)
WHERE state IN ('scheduled', 'running', 'held');
CREATE INDEX releases_environment_idx ON releases (environment);
CREATE INDEX releases_feature_idx ON releases (feature, environment, id DESC);

-- `keys` are the alerts that fire a signal guard, each with the sentence that is shown, `signal_ids` the signals
-- that they fired with, and `ended` the alerts that have ended by the sender's own times: a late signal doesn't
-- fire them again. A guard is not `is_caught_up` until the signals that arrived while it was stored are applied.
-- `is_watching` until the release has ended: signals of the endpoint are queued for evaluation.
CREATE TABLE release_guards (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    release_id bigint NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    position integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('signal', 'rule', 'silence')),
    endpoint_id integer,
    definition jsonb NOT NULL,
    state text NOT NULL CHECK (state IN ('ok', 'firing', 'unknown')),
    since timestamptz NOT NULL,
    reason text,
    keys jsonb NOT NULL DEFAULT '{}',
    is_watching boolean NOT NULL DEFAULT true,
    signal_ids jsonb NOT NULL DEFAULT '{}',
    is_caught_up boolean NOT NULL DEFAULT true,
    ended jsonb NOT NULL DEFAULT '{}',
    -- A guard can watch an alert rule that exists, besides having one of its own.
    rule_id integer REFERENCES alert_rules (id) ON DELETE SET NULL
);
CREATE INDEX release_guards_endpoint_id_idx ON release_guards (endpoint_id) WHERE is_watching;
CREATE INDEX release_guards_release_id_idx ON release_guards (release_id, position);
CREATE INDEX release_guards_rule_idx ON release_guards (rule_id) WHERE rule_id IS NOT NULL;

ALTER TABLE alert_rules ADD FOREIGN KEY (guard_id) REFERENCES release_guards (id) ON DELETE CASCADE;
