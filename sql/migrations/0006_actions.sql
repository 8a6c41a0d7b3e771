-- Action sets, their runs, and the alerts and flags that they hold.

-- The actor is a service account; no foreign keys to it and to the endpoint: a set outlives both, and then its
-- runs fail where everyone sees it. A set that a clock triggers has the endpoint 0 and a schedule.
CREATE TABLE action_sets (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project text NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    description text CHECK (length(description) <= 1000),
    enabled boolean NOT NULL DEFAULT true,
    has_run_once boolean NOT NULL DEFAULT false,
    actor_id integer NOT NULL,
    endpoint_id integer NOT NULL,
    filters jsonb NOT NULL DEFAULT '[]',
    settings jsonb NOT NULL DEFAULT '{}',
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL,
    schedule jsonb,
    due_at timestamptz,
    UNIQUE (project, name)
);
CREATE INDEX action_sets_due_at_idx ON action_sets (due_at)
WHERE endpoint_id = 0 AND enabled AND due_at IS NOT NULL;
CREATE INDEX action_sets_endpoint_idx ON action_sets (endpoint_id);

CREATE TABLE actions (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    action_set_id integer NOT NULL REFERENCES action_sets (id) ON DELETE CASCADE,
    sort_order integer NOT NULL,
    kind text NOT NULL,
    params jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL
);
CREATE INDEX actions_action_set_id_idx ON actions (action_set_id, sort_order);

-- One row for each set and signal at most. `signal` and `action_set` are copies, so that history survives edits;
-- in `action_set` each action has its state, details and what it changed. `alert_key` ties a resolved alert to the
-- run that it fired.
CREATE TABLE action_runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    action_set_id integer NOT NULL,
    project text NOT NULL,
    cause text NOT NULL CHECK (cause IN ('signal', 'resolved', 'timer', 'undo')),
    signal_id bigint,
    reverts_run_id bigint,
    reverted_by_run_id bigint,
    revert_due_at timestamptz,
    alert_key text,
    actor_id integer NOT NULL,
    state text NOT NULL CHECK (state IN ('started', 'success', 'failed', 'suppressed')),
    reason text,
    dry_run boolean NOT NULL DEFAULT false,
    signal json,
    action_set jsonb NOT NULL,
    next_action integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    UNIQUE (action_set_id, signal_id)
);
-- What cooldown and the runs per hour ask before each run, however many runs were suppressed.
CREATE INDEX action_runs_counted_idx ON action_runs (action_set_id, created_at)
WHERE cause = 'signal' AND state <> 'suppressed';
CREATE INDEX action_runs_created_at_idx ON action_runs USING brin (created_at);
CREATE INDEX action_runs_due_idx ON action_runs (revert_due_at) WHERE revert_due_at IS NOT NULL;
CREATE INDEX action_runs_open_idx ON action_runs (id) WHERE state = 'started';
CREATE INDEX action_runs_set_idx ON action_runs (action_set_id, id DESC);
CREATE INDEX action_runs_signal_id_idx ON action_runs (signal_id);
-- Whether a set did not run for the same reason in this hour: then it has no further event.
CREATE INDEX action_runs_skipped_idx ON action_runs (action_set_id, created_at) WHERE state = 'suppressed';

-- The alerts of action sets: one row for each key, which is part of a payload and can be too long for an index.
-- `endpoint_id` and `key_path` are the endpoint and the path of the key when a signal reported the alert last: an
-- alert that its set can't see resolve doesn't fire. `run_id` is its newest run. `resolved_at` is the sender's own
-- time. `ignored_*` is the person who undid its run and ignores it until it resolves.
CREATE TABLE alerts (
    action_set_id integer NOT NULL REFERENCES action_sets (id) ON DELETE CASCADE,
    key_hash bytea NOT NULL,
    key text NOT NULL,
    endpoint_id integer NOT NULL,
    key_path text NOT NULL,
    is_firing boolean NOT NULL,
    run_id bigint,
    reported_at timestamptz NOT NULL,
    resolved_at timestamptz,
    ignored_by text,
    ignored_by_id integer,
    ignored_at timestamptz,
    PRIMARY KEY (action_set_id, key_hash)
);
CREATE INDEX alerts_firing_idx ON alerts (action_set_id, key_hash) WHERE is_firing AND ignored_by IS NULL;
CREATE INDEX alerts_reported_idx ON alerts (reported_at);
CREATE INDEX alerts_run_idx ON alerts (run_id);

-- What runs for alerts changed and will be reverted when the alerts resolve: one row for each change, until a
-- revert. `kept_*` is the person who decided that the flag stays off: no alert reverts this hold, and turning the
-- flag on deletes it.
CREATE TABLE holds (
    run_id bigint NOT NULL,
    position integer NOT NULL,
    action_set_id integer NOT NULL REFERENCES action_sets (id) ON DELETE CASCADE,
    feature text NOT NULL,
    environment text NOT NULL,
    change jsonb NOT NULL,
    held_at timestamptz NOT NULL,
    kept_by text,
    kept_by_id integer,
    kept_at timestamptz,
    PRIMARY KEY (run_id, position)
);
CREATE INDEX holds_feature_idx ON holds (feature);
CREATE INDEX holds_set_idx ON holds (action_set_id, run_id);
