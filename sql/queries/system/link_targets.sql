-- Which of the objects that events and runs name still exist, so that pages link no others.

-- name: list_existing_targets
-- One lookup by primary key for each. The key of a signal is "endpoint/signal".
SELECT x.kind, x.key
FROM jsonb_to_recordset(%(targets)s::jsonb) AS x (kind text, key text)
WHERE CASE x.kind
          WHEN 'flag' THEN EXISTS (SELECT 1 FROM features WHERE name = x.key)
          WHEN 'project' THEN EXISTS (SELECT 1 FROM projects WHERE id = x.key)
          WHEN 'segment' THEN EXISTS (SELECT 1 FROM segments WHERE id = x.key::bigint)
          WHEN 'user' THEN EXISTS (SELECT 1 FROM users
                                   WHERE id = x.key::bigint AND account_type = 'user')
          WHEN 'addon-config' THEN EXISTS (SELECT 1 FROM integrations WHERE id = x.key::bigint)
          WHEN 'actions' THEN EXISTS (SELECT 1 FROM action_sets WHERE id = x.key::bigint)
          WHEN 'run' THEN EXISTS (SELECT 1 FROM action_runs WHERE id = x.key::bigint)
          WHEN 'release' THEN EXISTS (SELECT 1 FROM releases WHERE id = x.key::bigint)
          WHEN 'signal-endpoint' THEN EXISTS (SELECT 1 FROM signal_endpoints WHERE id = x.key::bigint)
          WHEN 'signal' THEN EXISTS (
              SELECT 1
              FROM signals s
              JOIN signal_endpoints e ON e.id = s.endpoint_id
              WHERE s.id = split_part(x.key, '/', 2)::bigint
                AND e.id = split_part(x.key, '/', 1)::bigint)
      END;
