-- The audit log. Written by every change in its own transaction; rows are kept for ever.

-- name: insert_event
INSERT INTO events (type, created_by, created_by_user_id, ip, project, environment, feature_name,
                    data, pre_data)
VALUES (%(type)s, %(created_by)s, %(created_by_user_id)s, %(ip)s, %(project)s, %(environment)s,
        %(feature_name)s, %(data)s::jsonb, %(pre_data)s::jsonb)
RETURNING id;

-- name: insert_events
-- One for each item of a JSON array; what is missing in an item is null.
INSERT INTO events (type, created_by, created_by_user_id, ip, project, environment, feature_name,
                    data, pre_data)
SELECT %(type)s, %(created_by)s, %(created_by_user_id)s, %(ip)s, x.project, x.environment,
       x.feature_name, x.data, x.pre_data
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (project text, environment text, feature_name text, data jsonb, pre_data jsonb);

-- name: list_events
SELECT id, created_at, type, created_by, created_by_user_id, ip, project, environment,
       feature_name, data, pre_data
FROM events
WHERE (%(before)s::bigint IS NULL OR id < %(before)s)
  AND (%(type)s::text IS NULL OR type = %(type)s)
ORDER BY id DESC
LIMIT %(limit)s OFFSET %(offset)s;

-- name: list_events_of_feature
SELECT id, created_at, type, created_by, created_by_user_id, ip, project, environment,
       feature_name, data, pre_data
FROM events
WHERE feature_name = %(feature)s
  AND (%(before)s::bigint IS NULL OR id < %(before)s)
  AND (%(type)s::text IS NULL OR type = %(type)s)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: count_events
SELECT count(*)
FROM events
WHERE (%(type)s::text IS NULL OR type = %(type)s);

-- name: list_event_types
-- One index look-up for each type instead of a walk through the whole log.
WITH RECURSIVE types AS (
    (SELECT type FROM events ORDER BY type LIMIT 1)
    UNION ALL
    SELECT (SELECT e.type FROM events e WHERE e.type > t.type ORDER BY e.type LIMIT 1)
    FROM types t
    WHERE t.type IS NOT NULL
)
SELECT type FROM types WHERE type IS NOT NULL;

-- name: fill_created_by
-- 100 past events without a user id, newest first: system for what the service did itself, the
-- user of that name, else the pseudo user of a token of that name. Others are left alone, and
-- so never block the batch.
WITH candidates AS (
    SELECT e.id,
           CASE
               WHEN e.created_by IN ('unknown', 'migration', 'system')
                    OR (e.created_by = 'init-api-tokens' AND e.type = 'api-token-created')
                   THEN %(system_id)s::int
               WHEN u.id IS NOT NULL THEN u.id
               ELSE %(token_id)s::int
           END AS user_id
    FROM events e
    LEFT JOIN users u ON lower(u.username) = lower(e.created_by) OR lower(u.email) = lower(e.created_by)
    WHERE e.created_by_user_id IS NULL
      AND (e.created_by IN ('unknown', 'migration', 'system')
           OR (e.created_by = 'init-api-tokens' AND e.type = 'api-token-created')
           OR u.id IS NOT NULL
           OR EXISTS (SELECT 1 FROM api_tokens t WHERE t.token_name = e.created_by))
    ORDER BY e.id DESC
    LIMIT 100
    FOR UPDATE OF e SKIP LOCKED
)
UPDATE events e
SET created_by_user_id = c.user_id
FROM candidates c
WHERE e.id = c.id;
