-- The audit log. Each change inserts its event in its own transaction; the retention job deletes old
-- ones in chunks, if it is configured.

-- name: insert_events
-- One event for each item of a JSON array, in its order; missing members are null. The same statement makes the
-- deliveries to the integrations that want the events. FOR SHARE: a change of an integration waits for the
-- events before it, and events wait for a change and then see it. An integration that gets the event of the
-- cause doesn't get what it caused: `covered_by` has alternatives, each an array of types. `cause_position` is the
-- place in the array of the event that is the cause.
WITH items AS MATERIALIZED (
    SELECT coalesce(x.id, nextval('events_id_seq')) AS id, coalesce(x.created_at, now()) AS created_at, x.type,
           x.created_by, x.created_by_user_id, x.ip, x.project, x.environment, x.feature_name, x.data,
           x.pre_data, x.covered_by, x.cause_position
    FROM jsonb_to_recordset(%(items)s::jsonb)
         AS x (id bigint, created_at timestamptz, type text, created_by text, created_by_user_id int, ip text, project text,
               environment text, feature_name text, data jsonb, pre_data jsonb, covered_by jsonb,
               cause_position integer)
), ids AS (
    SELECT array_agg(id) AS ids FROM items
), added AS (
    INSERT INTO events (id, created_at, type, created_by, created_by_user_id, ip, project, environment,
                        feature_name, data, pre_data, data_bytes, tags)
    OVERRIDING SYSTEM VALUE
    SELECT x.id, x.created_at, x.type, x.created_by, x.created_by_user_id, x.ip, x.project, x.environment,
           x.feature_name, content.data, x.pre_data,
           coalesce(octet_length(content.data::text), 0) + coalesce(octet_length(x.pre_data::text), 0),
           coalesce((SELECT jsonb_agg(jsonb_build_object('type', t.type, 'value', t.value)
                                      ORDER BY t.type, t.value)
                     FROM feature_tags t WHERE t.feature = x.feature_name), '[]')
    FROM items x
    CROSS JOIN LATERAL (
        SELECT CASE WHEN x.cause_position IS NULL THEN x.data
                    ELSE jsonb_set(x.data, '{cause,eventId}', to_jsonb((SELECT ids[x.cause_position] FROM ids)))
               END AS data
    ) content
)
INSERT INTO outbox (kind, subject_id, target, event_id)
SELECT 'integration', i.id, jsonb_build_object('type', i.provider), x.id
FROM items x
JOIN integrations i ON i.enabled AND i.events && ARRAY[x.type, '*']
     AND (x.project IS NULL OR i.projects = '{}' OR i.projects && ARRAY[x.project, '*'])
     AND (x.environment IS NULL OR i.environments = '{}'
          OR i.environments && ARRAY[x.environment, '*'])
     AND NOT EXISTS (
         SELECT FROM jsonb_array_elements(x.covered_by) AS c (types)
         WHERE '*' = ANY(i.events) OR to_jsonb(i.events) @> c.types
     )
ORDER BY x.id, i.id
FOR SHARE OF i;

-- part: matches_lists
AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s))
AND (%(features)s::text[] IS NULL OR feature_name = ANY(%(features)s))
AND (%(projects)s::text[] IS NULL OR project = ANY(%(projects)s))
AND (%(environments)s::text[] IS NULL OR environment = ANY(%(environments)s))

-- part: matches_author_and_time
AND (%(authors)s::text[] IS NULL OR created_by = ANY(%(authors)s)
     OR created_by_user_id = ANY(%(author_ids)s::int[]))
AND (%(start)s::timestamptz IS NULL OR created_at >= %(start)s)
AND (%(end)s::timestamptz IS NULL OR created_at < %(end)s)
AND (%(families)s::text[] IS NULL OR split_part(type, '-', 1) = ANY(%(families)s))
AND (NOT %(projects_only)s::boolean OR project IS NOT NULL OR feature_name IS NOT NULL)

-- part: matches_text
AND (%(text)s::text IS NULL
     OR strpos(lower(concat_ws(' ', type, created_by, feature_name, project, environment,
                               data::text, pre_data::text)), lower(%(text)s)) > 0)

-- name: list_events
-- Newest first; each filter may be null. `families` are the first words of event types, for example
-- feature; `projects_only` excludes events without a project or flag: users, tokens, settings. With
-- `text`, find_search_window has set `oldest_id` and `newest_id`. A page ends early when its data exceeds
-- `page_bytes`; `bytes` is the total size up to and including the row. With =
-- for a single value, the index has the order of the result; for = ANY the planner reads and sorts all
-- matching events if it has no statistics.
SELECT e.id, e.created_at, e.type, e.created_by, e.created_by_user_id, e.ip, e.project,
       e.environment, e.feature_name, e.data, e.pre_data, e.tags, page.bytes
FROM (
    SELECT id, size, sum(size) OVER (ORDER BY id DESC) AS bytes
    FROM (
        SELECT id, coalesce(data_bytes, coalesce(octet_length(data::text), 0)
                                        + coalesce(octet_length(pre_data::text), 0)) AS size
        FROM events
        WHERE (%(before)s::bigint IS NULL OR id < %(before)s)
          AND (%(oldest_id)s::bigint IS NULL OR id >= %(oldest_id)s)
          AND (%(newest_id)s::bigint IS NULL OR id <= %(newest_id)s)
          AND (%(types)s::text[] IS NULL
               OR CASE cardinality(%(types)s::text[])
                      WHEN 1 THEN type = (%(types)s::text[])[1]
                      ELSE type = ANY(%(types)s) END)
          AND (%(features)s::text[] IS NULL
               OR CASE cardinality(%(features)s::text[])
                      WHEN 1 THEN feature_name = (%(features)s::text[])[1]
                      ELSE feature_name = ANY(%(features)s) END)
          AND (%(projects)s::text[] IS NULL
               OR CASE cardinality(%(projects)s::text[])
                      WHEN 1 THEN project = (%(projects)s::text[])[1]
                      ELSE project = ANY(%(projects)s) END)
          AND (%(environments)s::text[] IS NULL
               OR CASE cardinality(%(environments)s::text[])
                      WHEN 1 THEN environment = (%(environments)s::text[])[1]
                      ELSE environment = ANY(%(environments)s) END)
          {{matches_author_and_time}}
          {{matches_text}}
        ORDER BY id DESC
        LIMIT %(limit)s OFFSET %(offset)s
    ) newest
) page
JOIN events e ON e.id = page.id
WHERE page.bytes - page.size < %(page_bytes)s
ORDER BY e.id DESC;

-- name: count_events
-- Has the filters of list_events. Stops at 10,000, so that a large log costs no more than a small one.
-- Filters without a covering index count the newest events: PostgreSQL doesn't cache the pages of a
-- sequential scan of a large table.
SELECT count(*)
FROM (
    SELECT 1
    FROM events
    WHERE (%(oldest_id)s::bigint IS NULL OR id >= %(oldest_id)s)
      AND (%(newest_id)s::bigint IS NULL OR id <= %(newest_id)s)
      {{matches_lists}}
      {{matches_author_and_time}}
      {{matches_text}}
    ORDER BY CASE WHEN %(types)s::text[] IS NULL AND %(features)s::text[] IS NULL
                       AND NOT %(projects_only)s::boolean THEN id END DESC
    LIMIT 10000
) AS matches;

-- name: find_search_window
-- The IDs of the newest events that one search covers, after `window_rows` events that match the
-- other filters or `window_bytes` of stored data, whichever comes first, and whether older ones may
-- exist.
SELECT coalesce(min(id), 0) AS oldest_id, coalesce(max(id), 0) AS newest_id,
       coalesce(count(*) = %(window_rows)s OR bool_or(bytes > %(window_bytes)s), false) AS has_more
FROM (
    SELECT id, bytes
    FROM (
        SELECT id, size, sum(size) OVER (ORDER BY id DESC) AS bytes
        FROM (
            SELECT id,
                   coalesce(pg_column_size(data), 0) + coalesce(pg_column_size(pre_data), 0)
                       AS size
            FROM events
            WHERE (%(before)s::bigint IS NULL OR id < %(before)s)
              {{matches_lists}}
              {{matches_author_and_time}}
            ORDER BY id DESC
            LIMIT %(window_rows)s
        ) newest
    ) totals
    WHERE bytes - size <= %(window_bytes)s
) part;

-- name: list_event_types
-- One index lookup for each type instead of a scan of the whole log.
WITH RECURSIVE types AS (
    (SELECT type FROM events ORDER BY type LIMIT 1)
    UNION ALL
    SELECT (SELECT e.type FROM events e WHERE e.type > t.type ORDER BY e.type LIMIT 1)
    FROM types t
    WHERE t.type IS NOT NULL
)
SELECT type FROM types WHERE type IS NOT NULL;

-- name: fill_created_by
-- 100 past events without a user ID, newest first: the system user for the service's own changes,
-- the user of that name, else the pseudo user for a token of that name. Events that match none of
-- these aren't selected, so they can't block the batch.
WITH candidates AS (
    SELECT e.id,
           CASE
               WHEN e.created_by IN ('unknown', 'migration', 'system')
                    OR (e.created_by = 'init-api-tokens' AND e.type = 'api-token-created')
                   THEN %(system_id)s::int
               WHEN n.id IS NOT NULL THEN n.id
               WHEN m.id IS NOT NULL THEN m.id
               ELSE %(token_id)s::int
           END AS user_id
    FROM events e
    LEFT JOIN users n ON lower(n.username) = lower(e.created_by)
    LEFT JOIN users m ON lower(m.email) = lower(e.created_by)
    WHERE e.created_by_user_id IS NULL
      AND (e.created_by IN ('unknown', 'migration', 'system')
           OR (e.created_by = 'init-api-tokens' AND e.type = 'api-token-created')
           OR n.id IS NOT NULL OR m.id IS NOT NULL
           OR EXISTS (SELECT 1 FROM api_tokens t WHERE t.token_name = e.created_by))
    ORDER BY e.id DESC
    LIMIT 100
    FOR UPDATE OF e SKIP LOCKED
)
UPDATE events e
SET created_by_user_id = c.user_id
FROM candidates c
WHERE e.id = c.id;

-- name: lock_old_events
-- One chunk of the events that are older than the retention time. IDs grow with time, so the scan from
-- the oldest ID ends at the first recent event. An array, because a join could read the whole table.
-- Keeps the log of each stored release, and the events that wait to be sent or, for a week, to be written
-- to the audit log's file.
SELECT e.id
FROM events e
WHERE e.id = ANY(ARRAY(
          SELECT o.id
          FROM events o
          WHERE NOT (o.type LIKE 'release-%%'
                     AND EXISTS (SELECT FROM releases r WHERE r.id = (o.data ->> 'releaseId')::bigint))
          ORDER BY o.id
          LIMIT %(chunk)s
      ))
  AND e.created_at < now() - make_interval(days => %(days)s)
  AND NOT EXISTS (
      SELECT FROM outbox o
      WHERE o.event_id = e.id AND o.sent_at IS NULL AND o.given_up_at IS NULL
  )
  AND NOT EXISTS (
      SELECT FROM audit_log_position p
      WHERE p.event_id < e.id AND p.leased_until > now() - interval '7 days'
  )
ORDER BY e.id
FOR UPDATE OF e SKIP LOCKED;

-- name: list_events_by_id
-- For the archive.
SELECT id, created_at, type, created_by, created_by_user_id, ip, project, environment,
       feature_name, data, pre_data, tags
FROM events
WHERE id = ANY(%(ids)s)
ORDER BY id;

-- name: delete_events
DELETE FROM events WHERE id = ANY(%(ids)s);
