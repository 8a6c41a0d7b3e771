-- The alerts of action sets: one row for each key. Until now they were derived from runs, and those that people
-- ignore were in a table of their own. A key is part of a payload and can be too long for an index.
-- `source_id` and `key_path` are the endpoint and the path of the key when a signal reported the alert last: an alert
-- that its set can't see resolve doesn't fire. `run_id` is its newest run. `resolved_at` is the sender's own time.

CREATE TABLE alerts (
    action_set_id integer NOT NULL REFERENCES action_sets (id) ON DELETE CASCADE,
    key_hash bytea NOT NULL,
    key text NOT NULL,
    source_id integer NOT NULL,
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
CREATE INDEX alerts_run_idx ON alerts (run_id);
CREATE INDEX alerts_reported_idx ON alerts (reported_at);

-- As list_firing_alerts had it: the newest run of an alert decides, and runs before the last auto-revert don't count.
INSERT INTO alerts (action_set_id, key_hash, key, source_id, key_path, is_firing, run_id, reported_at)
SELECT newest.action_set_id, sha256(convert_to(newest.correlation, 'UTF8')), newest.correlation,
       (newest.action_set #>> '{match,sourceId}')::int,
       newest.action_set #>> '{options,restoreWhenResolved,key}', true, newest.id, newest.created_at
FROM (
    SELECT DISTINCT ON (r.action_set_id, r.correlation)
           r.id, r.action_set_id, r.correlation, r.action_set, r.created_at,
           r.cause = 'signal' AND r.restored_by_run_id IS NULL AS is_firing
    FROM action_runs r
    WHERE r.correlation IS NOT NULL AND (r.cause = 'resolved' OR NOT r.dry_run)
      AND r.id > coalesce((SELECT max(e.id) FROM action_runs e
                           WHERE e.action_set_id = r.action_set_id AND e.cause = 'resolved'
                             AND e.state <> 'suppressed' AND NOT e.dry_run), 0)
    ORDER BY r.action_set_id, r.correlation, r.id DESC
) AS newest
JOIN action_sets s ON s.id = newest.action_set_id
WHERE newest.is_firing AND newest.action_set #>> '{options,restoreWhenResolved,key}' IS NOT NULL;

INSERT INTO alerts AS a (action_set_id, key_hash, key, source_id, key_path, is_firing, run_id, reported_at,
                         ignored_by, ignored_at)
SELECT DISTINCT ON (i.action_set_id, i.correlation)
       i.action_set_id, sha256(convert_to(i.correlation, 'UTF8')), i.correlation, s.source_id,
       s.settings #>> '{restoreWhenResolved,key}', false, i.run_id, i.created_at, i.created_by, i.created_at
FROM ignored_alerts i
JOIN action_sets s ON s.id = i.action_set_id
WHERE s.settings #>> '{restoreWhenResolved,key}' IS NOT NULL
ORDER BY i.action_set_id, i.correlation, i.run_id
ON CONFLICT (action_set_id, key_hash) DO UPDATE
SET ignored_by = EXCLUDED.ignored_by, ignored_at = EXCLUDED.ignored_at;

DROP TABLE ignored_alerts;
