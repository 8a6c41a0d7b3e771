-- Guards of releases whose rule is a query of a metric source: the query is sent at `query_due_at`, outside
-- of any transaction, while `due_at` is of rules that one transaction evaluates.

ALTER TABLE release_guards ADD COLUMN query_due_at timestamptz;

CREATE INDEX release_guards_query_due_at_idx ON release_guards (query_due_at)
    WHERE is_watching AND query_due_at IS NOT NULL;
