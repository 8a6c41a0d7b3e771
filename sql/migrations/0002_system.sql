-- Settings, the audit log, mails and deliveries, and the revisions that SDKs poll.

-- What the service remembers about itself: its ID, origins for browsers, what was created at the first start.
CREATE TABLE settings (
    key text PRIMARY KEY,
    value jsonb NOT NULL
);

-- The audit log. Rows are written in the transaction of the change and never updated, except by the created-by
-- job; they are kept for ever, unless a retention is set.
CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    type text NOT NULL,
    created_by text NOT NULL,
    created_by_user_id integer,
    ip text,
    project text,
    environment text,
    feature_name text,
    data jsonb,
    pre_data jsonb,
    -- The bytes of the data as text, which bound a page of the audit log.
    data_bytes integer,
    tags jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX events_created_at_idx ON events USING brin (created_at);
CREATE INDEX events_created_by_id_idx ON events (created_by, id DESC);
CREATE INDEX events_created_by_user_id_idx ON events (created_by_user_id, id DESC);
CREATE INDEX events_environment_id_idx ON events (environment, id DESC);
-- The audit log is searched by flag, project and environment.
CREATE INDEX events_feature_name_id_idx ON events (feature_name, id DESC);
CREATE INDEX events_no_user_idx ON events (id DESC) WHERE created_by_user_id IS NULL;
CREATE INDEX events_project_id_idx ON events (project, id DESC);
CREATE INDEX events_release_idx ON events (((data -> 'releaseId')), id) WHERE type ~~ 'release-%';
CREATE INDEX events_type_id_idx ON events (type, id DESC);

-- How far the audit log is written to a file or standard output (SERVICE_AUDIT_LOG), and the process that
-- writes it.
CREATE TABLE audit_log_position (
    is_only boolean DEFAULT true PRIMARY KEY CHECK (is_only),
    event_id bigint NOT NULL,
    owner text NOT NULL,
    leased_until timestamptz NOT NULL
);

-- Mails to users and deliveries of integrations, written in the transaction of their cause.
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    message_id text NOT NULL DEFAULT ('msg_' || gen_random_uuid()),
    subject_id bigint,
    user_id integer REFERENCES users (id) ON DELETE CASCADE,
    target jsonb NOT NULL,
    payload jsonb NOT NULL DEFAULT '{}',
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00',
    expires_at timestamptz,
    sent_at timestamptz,
    given_up_at timestamptz,
    last_error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    event_id bigint
);
-- A long queue of integrations must not delay the search for other messages that are due.
CREATE INDEX outbox_due_message_idx ON outbox (due_at)
WHERE kind <> 'integration' AND sent_at IS NULL AND given_up_at IS NULL;
-- Retention keeps these events.
CREATE INDEX outbox_event_idx ON outbox (event_id)
WHERE event_id IS NOT NULL AND sent_at IS NULL AND given_up_at IS NULL;
-- The queue of each integration, in order.
CREATE INDEX outbox_integration_idx ON outbox (subject_id, id)
WHERE kind = 'integration' AND sent_at IS NULL AND given_up_at IS NULL;
CREATE INDEX outbox_settled_idx ON outbox (coalesce(sent_at, given_up_at))
WHERE coalesce(sent_at, given_up_at) IS NOT NULL;
CREATE INDEX outbox_subject_idx ON outbox (subject_id, kind, id DESC) WHERE subject_id IS NOT NULL;
CREATE INDEX outbox_user_id_idx ON outbox (user_id, id DESC) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX outbox_waiting_mail_key ON outbox (user_id, kind)
WHERE user_id IS NOT NULL AND sent_at IS NULL AND given_up_at IS NULL;

-- One row a topic: '' grows with each change that a client could see and its row lock serialises those changes;
-- 'tokens', 'all' (every environment) and 'in/<environment>' tell what changed.
CREATE TABLE revisions (
    topic text PRIMARY KEY,
    id bigint NOT NULL,
    -- For SDKs that stream: fits their 32 bits, grows with each change, over all topics, and follows the clock in
    -- seconds, so that a restored database doesn't give the number of a lost change to another one.
    event_id bigint NOT NULL DEFAULT 0
);

-- The topic '' is the first row of each change. All its topics get one number, so that the revision of an environment
-- is the largest of its topics.
CREATE FUNCTION set_revision_event_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.topic = '' THEN
        NEW.event_id := greatest(NEW.event_id + 1, floor(extract(epoch FROM clock_timestamp())));
    ELSE
        SELECT id, event_id INTO NEW.id, NEW.event_id FROM revisions WHERE topic = '';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION notify_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('sigservice_revisions', '');
    RETURN NULL;
END
$$;

CREATE TRIGGER revisions_set_event_id BEFORE INSERT OR UPDATE ON revisions
FOR EACH ROW EXECUTE FUNCTION set_revision_event_id();

-- A process that misses a notification reads the revision a second later.
CREATE TRIGGER revisions_notify AFTER INSERT OR UPDATE ON revisions
FOR EACH STATEMENT EXECUTE FUNCTION notify_revisions();

-- What each change touched, so that a process reads the changed flags only. `previous` is the number before the
-- change: after a gap all flags are read. NULL in `environments` are all environments, in `flags` any flags and
-- segments.
CREATE TABLE revision_changes (
    revision bigint PRIMARY KEY,
    previous bigint NOT NULL,
    environments text[],
    flags text[],
    segments integer[] NOT NULL
);
