-- What runs for alerts changed and will be reverted when the alerts resolve: one row for each change, until a revert.
-- Until now this was derived from runs.

CREATE TABLE holds (
    run_id bigint NOT NULL,
    position integer NOT NULL,
    action_set_id integer NOT NULL REFERENCES action_sets (id) ON DELETE CASCADE,
    feature text NOT NULL,
    environment text NOT NULL,
    change jsonb NOT NULL,
    held_at timestamptz NOT NULL,
    PRIMARY KEY (run_id, position)
);
CREATE INDEX holds_set_idx ON holds (action_set_id, run_id);
CREATE INDEX holds_feature_idx ON holds (feature);

INSERT INTO holds (run_id, position, action_set_id, feature, environment, change, held_at)
SELECT r.id, c.position, s.id, c.change ->> 'feature', c.change ->> 'environment', c.change, r.created_at
FROM action_sets s
JOIN action_runs r ON r.action_set_id = s.id
CROSS JOIN LATERAL jsonb_path_query(r.action_set, '$.actions[*].changes[*]') WITH ORDINALITY AS c (change, position)
WHERE r.cause = 'signal' AND r.correlation IS NOT NULL AND r.state IN ('success', 'failed') AND NOT r.dry_run
  AND r.restored_by_run_id IS NULL
  AND c.change ->> 'feature' IS NOT NULL AND c.change ->> 'environment' IS NOT NULL
  AND r.id > coalesce((SELECT max(e.id) FROM action_runs e
                       WHERE e.action_set_id = s.id AND e.cause = 'resolved' AND e.state = 'success'
                         AND NOT e.dry_run), 0);

DROP INDEX action_runs_holding_idx;
