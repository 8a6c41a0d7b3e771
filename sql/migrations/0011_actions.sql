-- Actions: which signals switch which flags, what was done, and whom it was told.

-- The actor is a service account and the source an endpoint; no foreign keys: a set outlives both,
-- and then its runs fail where everybody sees it.
CREATE TABLE action_sets (
    id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project            text NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name               text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    description        text CHECK (length(description) <= 1000),
    enabled            boolean NOT NULL DEFAULT true,
    armed              boolean NOT NULL DEFAULT true,
    actor_id           integer NOT NULL,
    source_id          integer NOT NULL,
    filters            jsonb NOT NULL DEFAULT '[]',
    settings           jsonb NOT NULL DEFAULT '{}',
    version            integer NOT NULL DEFAULT 1,
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL,
    UNIQUE (project, name)
);

CREATE INDEX action_sets_source_id_idx ON action_sets (source_id) WHERE enabled;

CREATE TABLE actions (
    id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    action_set_id      integer NOT NULL REFERENCES action_sets (id) ON DELETE CASCADE,
    sort_order         integer NOT NULL,
    kind               text NOT NULL,
    params             jsonb NOT NULL DEFAULT '{}',
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL
);

CREATE INDEX actions_action_set_id_idx ON actions (action_set_id, sort_order);

-- Signals that some set may want: written with the signal, taken by the one who judges it.
CREATE TABLE signal_queue (
    signal_id   bigint PRIMARY KEY,
    endpoint_id integer NOT NULL,
    queued_at   timestamptz NOT NULL DEFAULT now()
);

-- What each set made of a signal; written once, when the signal is taken from the queue.
CREATE TABLE signal_verdicts (
    signal_id bigint PRIMARY KEY,
    judged_at timestamptz NOT NULL DEFAULT now(),
    verdicts  jsonb NOT NULL
);

-- One row for each set and signal at most. `signal` and `action_set` are copies, so that history
-- survives edits; in `action_set` each action has its state, details and what it changed.
-- `correlation` ties a resolved alert to the run that it fired.
CREATE TABLE action_runs (
    id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    action_set_id      integer NOT NULL,
    project            text NOT NULL,
    cause              text NOT NULL CHECK (cause IN ('signal', 'resolved', 'timer', 'undo')),
    signal_id          bigint,
    restores_run_id    bigint,
    restored_by_run_id bigint,
    restore_due_at     timestamptz,
    correlation        text,
    actor_id           integer NOT NULL,
    state              text NOT NULL CHECK (state IN ('started', 'success', 'failed', 'suppressed')),
    reason             text,
    dry_run            boolean NOT NULL DEFAULT false,
    signal             json,
    action_set         jsonb NOT NULL,
    next_action        integer NOT NULL DEFAULT 0,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at        timestamptz,
    UNIQUE (action_set_id, signal_id)
);

CREATE INDEX action_runs_open_idx ON action_runs (id) WHERE state = 'started';
CREATE INDEX action_runs_set_idx ON action_runs (action_set_id, id DESC);
CREATE INDEX action_runs_signal_id_idx ON action_runs (signal_id);
CREATE INDEX action_runs_due_idx ON action_runs (restore_due_at) WHERE restore_due_at IS NOT NULL;
CREATE INDEX action_runs_created_at_idx ON action_runs USING brin (created_at);

-- A signal that a person sent from a page, or sent again.
ALTER TABLE signals
    ADD COLUMN sent_by   text,
    ADD COLUMN replay_of bigint;

-- Messages for people, sent by a job with retries; written with the run that they tell of.
CREATE TABLE notifications (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id       bigint NOT NULL,
    channel      jsonb NOT NULL,
    message      jsonb NOT NULL,
    attempts     integer NOT NULL DEFAULT 0,
    due_at       timestamptz NOT NULL DEFAULT now(),
    sent_at      timestamptz,
    given_up_at  timestamptz,
    last_error   text,
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX notifications_due_idx ON notifications (due_at)
    WHERE sent_at IS NULL AND given_up_at IS NULL;
CREATE INDEX notifications_run_id_idx ON notifications (run_id);
