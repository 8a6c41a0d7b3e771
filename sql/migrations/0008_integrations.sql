-- Integrations, and who delivers for them.

-- Integrations send events of the audit log to other systems. Their deliveries are rows of the outbox with the
-- kind 'integration', written by the statement that inserts the events.
CREATE TABLE integrations (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider text NOT NULL,
    enabled boolean NOT NULL,
    description text,
    parameters jsonb NOT NULL DEFAULT '{}',
    secrets bytea,
    events text[] NOT NULL,
    projects text[] NOT NULL DEFAULT '{}',
    environments text[] NOT NULL DEFAULT '{}',
    disabled_reason text,
    source text UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    name text UNIQUE
);

-- The process that delivers the queue of an integration.
CREATE TABLE integration_leases (
    integration_id integer PRIMARY KEY,
    leased_by text NOT NULL,
    leased_until timestamptz NOT NULL
);
