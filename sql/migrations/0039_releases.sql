-- Releases: the percentage of a gradual rollout rises in steps while guards watch.

-- The template that an endpoint was created from says which signals fire and resolve an alert.
ALTER TABLE signal_endpoints ADD COLUMN template text;

-- `plan` is what the user wrote, without guards. `content` are the strategies and the state of the flag
-- as the release left them: another content was written by somebody else. `rollout` is the percentage
-- that the release set last.
CREATE TABLE releases (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    feature             text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    environment         text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    strategy_id         text NOT NULL,
    plan                jsonb NOT NULL,
    warnings            jsonb NOT NULL DEFAULT '[]',
    state               text NOT NULL CHECK (state IN ('scheduled', 'running', 'held', 'finished',
                                                       'rolledBack', 'stopped')),
    held_by             text CHECK (held_by IN ('person', 'guard', 'noData', 'edit', 'step')),
    held_reason         text,
    held_guard_id       bigint,
    step                integer NOT NULL DEFAULT 0,
    rollout             integer NOT NULL,
    start_rollout       integer NOT NULL,
    rolled_back_from    integer,
    content             jsonb NOT NULL,
    start_at            timestamptz,
    entered_at          timestamptz,
    due_at              timestamptz,
    evidence_at         timestamptz,
    resumed_at          timestamptz,
    propagation_seconds integer NOT NULL DEFAULT 15,
    auto_resumes        integer NOT NULL DEFAULT 0,
    created_at          timestamptz NOT NULL,
    created_by          text NOT NULL,
    created_by_user_id  integer NOT NULL,
    finished_at         timestamptz,
    CHECK ((state = 'held') = (held_by IS NOT NULL))
);

CREATE UNIQUE INDEX releases_active_key ON releases (feature, environment)
    WHERE state IN ('scheduled', 'running', 'held');
CREATE INDEX releases_feature_idx ON releases (feature, environment, id DESC);
CREATE INDEX releases_environment_idx ON releases (environment);

-- `keys` are the alerts that fire a signal guard, each with the sentence that is shown. `is_watching`
-- until the release has ended: signals of the endpoint are queued for evaluation. A guard with a rule is
-- evaluated at `due_at`; `rule_state` and `rule_reason` are the result, from which `state` follows.
CREATE TABLE release_guards (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    release_id    bigint NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    position      integer NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('signal', 'rule', 'silence')),
    endpoint_id   integer,
    definition    jsonb NOT NULL,
    state         text NOT NULL CHECK (state IN ('ok', 'firing', 'unknown')),
    since         timestamptz NOT NULL,
    reason        text,
    value         double precision,
    "limit"       double precision,
    samples       double precision,
    covers_from   timestamptz,
    covers_to     timestamptz,
    keys          jsonb NOT NULL DEFAULT '{}',
    ignored_until timestamptz,
    is_watching   boolean NOT NULL DEFAULT true,
    rule_state    jsonb,
    rule_reason   text,
    due_at        timestamptz
);

CREATE INDEX release_guards_release_id_idx ON release_guards (release_id, position);
CREATE INDEX release_guards_endpoint_id_idx ON release_guards (endpoint_id) WHERE is_watching;

CREATE TABLE release_events (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    release_id bigint NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    type       text NOT NULL,
    step       integer NOT NULL,
    rollout    integer NOT NULL,
    actor      text NOT NULL,
    reason     text,
    text       text NOT NULL,
    guard      jsonb
);

CREATE INDEX release_events_release_id_idx ON release_events (release_id, id);

CREATE TABLE release_templates (
    name               text PRIMARY KEY,
    description        text,
    steps              jsonb NOT NULL,
    watch_minutes      integer NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL
);
