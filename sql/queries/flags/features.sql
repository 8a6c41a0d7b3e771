-- Flags. Written under lock_revisions. A user archives a flag, and deletes it from the archive.
-- feature_last_seen may have rows of a deleted flag with the same name.

-- part: is_permanent
coalesce(f.permanent, f.type IN ('kill-switch', 'permission'))

-- name: put_features
-- Project, creator and creation time of an existing flag don't change.
INSERT INTO features (name, project, type, description, stale, impression_data, permanent,
                      archived_at, created_at, created_by, created_by_user_id)
SELECT name, project, type, description, stale, "impressionData", permanent, "archivedAt",
       coalesce("createdAt", now()), coalesce("createdBy", %(created_by)s),
       CASE WHEN "createdBy" IS NULL THEN %(created_by_user_id)s::int END
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, project text, type text, description text, stale boolean,
           "impressionData" boolean, permanent boolean, "archivedAt" timestamptz,
           "createdAt" timestamptz, "createdBy" text)
ON CONFLICT (name) DO UPDATE
SET type = excluded.type, description = excluded.description, stale = excluded.stale,
    impression_data = excluded.impression_data,
    permanent = coalesce(excluded.permanent, features.permanent);

-- name: count_features
SELECT count(*) FROM features WHERE archived_at IS NULL;

-- name: list_features_by_name
-- The flags with these names, in any project, archived or not. `managed` is NULL, or says by which source.
SELECT f.name, f.project, f.type, f.description, f.stale, f.impression_data, {{is_permanent}} AS permanent,
       f.created_at, f.created_by, f.created_by_user_id, f.archived_at,
       (SELECT max(seen_at) FROM feature_last_seen
        WHERE feature = f.name AND seen_at >= f.created_at) AS last_seen_at,
       (SELECT jsonb_build_object('source', s.name, 'revision', s.revision, 'appliedAt',
                                  to_char(s.applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        FROM sources s WHERE s.name = f.source) AS managed
FROM features f
WHERE name = ANY(%(names)s)
ORDER BY name;

-- part: matching_features
-- Filters that are NULL don't apply; each of `words` (LIKE patterns) must be in the name,
-- the description or a tag; `enabled` is the state in `environment`.
FROM features f
WHERE (f.archived_at IS NOT NULL) = %(archived)s
  AND (%(projects)s::text[] IS NULL OR f.project = ANY(%(projects)s))
  AND (%(types)s::text[] IS NULL OR f.type = ANY(%(types)s))
  AND (%(stale)s::boolean IS NULL OR f.stale = %(stale)s)
  AND (%(names)s::text[] IS NULL OR f.name = ANY(%(names)s))
  AND (%(prefix)s::text IS NULL OR starts_with(f.name, %(prefix)s))
  AND (%(tags)s::text[] IS NULL OR f.name IN (
        SELECT t.feature FROM tags g JOIN feature_tags t USING (type, value)
        WHERE g.type || ':' || g.value = ANY(%(tags)s)))
  AND (%(words)s::text[] IS NULL
       OR lower(f.name || E'\n' || coalesce(f.description, '') || E'\n' || f.created_by) LIKE ALL(
           ARRAY(SELECT lower(w) FROM unnest(%(words)s::text[]) AS w))
       OR f.name IN (
            SELECT feature FROM feature_tags
            WHERE lower(type || ':' || value) LIKE ANY(
                ARRAY(SELECT lower(w) FROM unnest(%(words)s::text[]) AS w)))
          AND NOT EXISTS (
              SELECT 1 FROM (SELECT lower(unnest(%(words)s::text[])) AS word) words
              WHERE lower(f.name || E'\n' || coalesce(f.description, '') || E'\n' || f.created_by) NOT LIKE word
                AND NOT EXISTS (
                  SELECT 1 FROM feature_tags t
                  WHERE t.feature = f.name AND lower(t.type || ':' || t.value) LIKE word)))
  AND (%(environment)s::text IS NULL OR %(enabled)s::boolean = EXISTS (
        SELECT 1 FROM feature_environments s
        WHERE s.feature = f.name AND s.environment = %(environment)s AND s.enabled))

-- name: search_features
-- One statement for all sort orders: the filters are the same, and by name, without favorites, the scan
-- of the primary key ends with the page. Only the flags of the page are looked up in feature_last_seen,
-- unless they are sorted by it; the outer query keeps their order.
SELECT name, project, type, description, stale, impression_data, permanent, created_at,
       created_by, created_by_user_id, archived_at,
       (SELECT max(seen_at) FROM feature_last_seen
        WHERE feature = page.name AND seen_at >= page.created_at) AS last_seen_at
FROM (
    SELECT f.name, f.project, f.type, f.description, f.stale, f.impression_data,
           {{is_permanent}} AS permanent, f.created_at, f.created_by, f.created_by_user_id,
           f.archived_at
    {{matching_features}}
    ORDER BY CASE WHEN %(favorites_of)s::bigint IS NOT NULL THEN f.name IN (
                 SELECT feature FROM favorite_features WHERE user_id = %(favorites_of)s)
             END DESC,
             CASE WHEN %(descending)s::boolean THEN -1 ELSE 1 END * CASE %(sort)s::text
                 WHEN 'createdAt' THEN extract(epoch FROM f.created_at)
                 WHEN 'lastSeenAt' THEN extract(epoch FROM coalesce((
                     SELECT max(seen_at) FROM feature_last_seen
                     WHERE feature = f.name AND seen_at >= f.created_at), '-infinity'))
                 WHEN 'state' THEN (
                     SELECT count(*) FROM feature_environments s
                     WHERE s.feature = f.name AND s.environment = %(sort_environment)s
                       AND s.enabled)
             END,
             CASE WHEN %(sort)s::text = 'name' AND %(descending)s::boolean THEN f.name END DESC,
             f.name
    LIMIT %(limit)s OFFSET %(offset)s
) page;

-- name: count_matching_features
SELECT count(*)
{{matching_features}};

-- name: list_active_names
-- Of flags that aren't archived, in one project or in all (NULL): those of `names`.
SELECT name FROM features
WHERE archived_at IS NULL AND name = ANY(%(names)s) AND (%(project)s::text IS NULL OR project = %(project)s);

-- name: list_old_features
-- Flags that may have a reason to be removed. Those with `is_ready` have one: they are marked, or older than their type lives.
SELECT f.name, f.stale OR coalesce(f.created_at < now() - make_interval(days => t.lifetime_days), false) AS is_ready
FROM features f
JOIN feature_types t ON t.id = f.type
WHERE f.archived_at IS NULL AND NOT {{is_permanent}} AND (%(project)s::text IS NULL OR f.project = %(project)s)
  AND (f.stale OR f.created_at < now() - make_interval(days => least(t.lifetime_days, %(days)s)));

-- name: list_removable_features
-- Those of `names` that have a reason to be removed. `value` is what all production environments serve to
-- everyone, `on` or `off`, NULL if there is no such value. The environment `default`, which every project has,
-- counts where the flag is used in it.
WITH strategies AS MATERIALIZED (
    SELECT feature, environment, bool_or(NOT disabled) AS is_active,
           bool_or(NOT disabled AND constraints = '[]'
                   AND (name = 'default' OR name = 'flexibleRollout' AND parameters ->> 'rollout' = '100')
                   AND NOT EXISTS (SELECT FROM strategy_segments g WHERE g.strategy_id = s.id))
           AND bool_and(disabled OR variants = '[]') AS reaches_everyone
    FROM feature_strategies s
    WHERE feature = ANY(%(names)s)
    GROUP BY feature, environment
), served AS MATERIALIZED (
    SELECT f.name, array_agg(e.name) AS environments,
           CASE WHEN bool_and(v.value IS NOT NULL) AND min(v.value) = max(v.value) THEN min(v.value) END AS value
    FROM features f
    JOIN project_environments p ON p.project = f.project
    JOIN environments e ON e.name = p.environment AND e.type = 'production' AND e.enabled
    LEFT JOIN feature_environments s ON s.feature = f.name AND s.environment = e.name
    LEFT JOIN strategies c ON c.feature = f.name AND c.environment = e.name
    CROSS JOIN LATERAL (
        SELECT CASE WHEN NOT coalesce(s.enabled, false) OR NOT c.is_active THEN 'off'
                    WHEN s.variants = '[]' AND coalesce(c.reaches_everyone, true) THEN 'on' END AS value
    ) v
    WHERE f.archived_at IS NULL AND f.name = ANY(%(names)s)
      AND (e.name <> 'default' OR s.enabled OR EXISTS (
          SELECT FROM feature_last_seen WHERE feature = f.name AND environment = 'default'))
    GROUP BY f.name
)
SELECT f.name, f.stale, d.value, lower(t.name) AS type_name, t.lifetime_days, changed.at AS changed_at,
       d.value IS NOT NULL AND changed.at < now() - make_interval(days => %(days)s) AS is_unchanged,
       seen.at AS seen_at, seen.at < now() - make_interval(days => %(days)s) AS is_unseen,
       marked.created_at AS marked_at, marked.created_by AS marked_by, marked.created_by_user_id AS marked_by_id
FROM features f
JOIN feature_types t ON t.id = f.type
LEFT JOIN served d ON d.name = f.name
CROSS JOIN LATERAL (
    SELECT coalesce((SELECT created_at FROM events
                     WHERE feature_name = f.name AND environment = ANY(d.environments) AND d.value IS NOT NULL
                     ORDER BY id DESC LIMIT 1), f.created_at) AS at
) changed
CROSS JOIN LATERAL (
    SELECT greatest(f.created_at, (
        SELECT max(seen_at) FROM feature_last_seen WHERE feature = f.name AND seen_at >= f.created_at)) AS at
) seen
LEFT JOIN LATERAL (
    SELECT created_at, created_by, created_by_user_id FROM events
    WHERE f.stale AND feature_name = f.name AND type = 'feature-stale-on'
    ORDER BY id DESC LIMIT 1
) marked ON true
WHERE f.archived_at IS NULL AND f.name = ANY(%(names)s) AND NOT {{is_permanent}}
  AND (f.stale
       OR f.created_at < now() - make_interval(days => t.lifetime_days)
       OR seen.at < now() - make_interval(days => %(days)s)
       OR d.value IS NOT NULL AND changed.at < now() - make_interval(days => %(days)s))
ORDER BY f.name;

-- name: set_stale
UPDATE features SET stale = %(stale)s WHERE name = ANY(%(names)s);

-- name: mark_permanent
UPDATE features SET permanent = true, stale = false WHERE name = ANY(%(names)s);

-- name: archive_features
UPDATE features SET archived_at = now() WHERE name = ANY(%(names)s) AND archived_at IS NULL;

-- name: revive_features
-- A revived flag is disabled in every environment.
WITH disabled AS (
    UPDATE feature_environments SET enabled = false WHERE feature = ANY(%(names)s)
)
UPDATE features SET archived_at = NULL WHERE name = ANY(%(names)s);

-- name: delete_features
DELETE FROM features WHERE name = ANY(%(names)s) AND archived_at IS NOT NULL;

-- name: list_feature_types
SELECT id, name, description, lifetime_days FROM feature_types ORDER BY id;

-- name: fill_feature_created_by
-- Fills the user ID of 100 flags, newest first, from the creator in the last feature-created event,
-- by the rules of fill_created_by of the events. Skips flags without a match, so they never block
-- the batch. OFFSET 0 excludes the index on the type, which has too many events of it.
WITH candidates AS (
    SELECT f.name,
           CASE
               WHEN e.created_by IN ('unknown', 'migration', 'system') THEN %(system_id)s::int
               WHEN n.id IS NOT NULL THEN n.id
               WHEN m.id IS NOT NULL THEN m.id
               ELSE %(token_id)s::int
           END AS user_id
    FROM features f
    CROSS JOIN LATERAL (
        SELECT created_by
        FROM (SELECT type, created_by FROM events WHERE feature_name = f.name
              ORDER BY id DESC OFFSET 0) newest
        WHERE type = 'feature-created'
        LIMIT 1
    ) e
    LEFT JOIN users n ON lower(n.username) = lower(e.created_by)
    LEFT JOIN users m ON lower(m.email) = lower(e.created_by)
    WHERE f.created_by_user_id IS NULL
      AND (e.created_by IN ('unknown', 'migration', 'system')
           OR n.id IS NOT NULL OR m.id IS NOT NULL
           OR EXISTS (SELECT 1 FROM api_tokens t WHERE t.token_name = e.created_by))
    ORDER BY f.created_at DESC, f.name
    LIMIT 100
    FOR UPDATE OF f SKIP LOCKED
)
UPDATE features f
SET created_by_user_id = c.user_id
FROM candidates c
WHERE f.name = c.name;
