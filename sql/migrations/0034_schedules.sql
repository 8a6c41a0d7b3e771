-- Action sets that a clock triggers: their source_id is 0, which no endpoint has, so the previous version of the service
-- never runs them. It reverts and undoes their runs like others: runs of cause 'signal' without a signal.

ALTER TABLE action_sets
    ADD COLUMN schedule jsonb,
    ADD COLUMN due_at   timestamptz;

CREATE INDEX action_sets_due_at_idx ON action_sets (due_at) WHERE source_id = 0 AND enabled AND due_at IS NOT NULL;
