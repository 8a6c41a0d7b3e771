-- A change wrote a delivery for each integration that wants its event, and a claim wrote to each of
-- these again. Now a change stores one row, a job makes the deliveries of many events at once, and
-- a claim is one row for the whole queue of an integration.
--
-- The previous version writes deliveries and claims them by `due_at`, as before. A queue that both
-- versions send from keeps its order, but a receiver can get an event twice, with the same ID.

CREATE TABLE unqueued_events (
    event_id        bigint PRIMARY KEY,
    integration_ids integer[] NOT NULL
);
COMMENT ON TABLE unqueued_events IS 'Events that integrations want and that are not in their queues yet.';

CREATE TABLE integration_claims (
    integration_id integer PRIMARY KEY,
    claimed_by     text NOT NULL,
    claimed_until  timestamptz NOT NULL
);
COMMENT ON TABLE integration_claims IS 'The process that sends from the queue of an integration.';
