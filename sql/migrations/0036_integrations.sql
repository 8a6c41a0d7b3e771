-- Integrations send events of the audit log to other systems. Their deliveries are rows of the outbox
-- with the kind 'integration', written by the statement that inserts the events.
--
-- The previous version inserts events without tags and deliveries, and sends no message of this kind.

CREATE TABLE integrations (
    id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider        text NOT NULL,
    enabled         boolean NOT NULL,
    description     text,
    parameters      jsonb NOT NULL DEFAULT '{}',
    secrets         bytea,
    events          text[] NOT NULL,
    projects        text[] NOT NULL DEFAULT '{}',
    environments    text[] NOT NULL DEFAULT '{}',
    disabled_reason text,
    source          text UNIQUE,
    created_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN integrations.secrets IS 'The sensitive parameters: encrypted JSON.';
COMMENT ON COLUMN integrations.source IS 'The server and the ID that an import took it from.';

ALTER TABLE events ADD COLUMN tags jsonb NOT NULL DEFAULT '[]';
ALTER TABLE outbox ADD COLUMN event_id bigint;

-- The queue of each integration, in order.
CREATE INDEX outbox_integration_idx ON outbox (subject_id, id)
    WHERE kind = 'integration' AND sent_at IS NULL AND given_up_at IS NULL;
-- Retention keeps these events.
CREATE INDEX outbox_event_idx ON outbox (event_id)
    WHERE event_id IS NOT NULL AND sent_at IS NULL AND given_up_at IS NULL;
-- A long queue of integrations must not delay the search for other messages that are due.
CREATE INDEX outbox_due_message_idx ON outbox (due_at)
    WHERE kind <> 'integration' AND sent_at IS NULL AND given_up_at IS NULL;
