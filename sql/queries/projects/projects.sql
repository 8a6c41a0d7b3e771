-- Projects. Written by admins. Deleting one deletes its archived flags and its action sets; other flags
-- and segments prevent it.

-- name: list_projects
-- All projects or the one with this ID, with the number of flags that aren't archived.
SELECT projects.id, projects.name, projects.description, projects.mode,
    projects.default_stickiness, projects.feature_naming, projects.link_templates,
    projects.confirms_production,
    projects.created_at, projects.updated_at,
    coalesce(counts.features, 0) AS feature_count,
    coalesce(counts.stale, 0) AS stale_feature_count,
    (SELECT count(*) FROM users WHERE account_type = 'user') AS member_count
FROM projects
LEFT JOIN (
    SELECT project, count(*) AS features, count(*) FILTER (WHERE stale) AS stale
    FROM features
    WHERE archived_at IS NULL AND (%(id)s::text IS NULL OR project = %(id)s)
    GROUP BY project
) AS counts ON counts.project = projects.id
WHERE %(id)s::text IS NULL OR projects.id = %(id)s
ORDER BY projects.name, projects.id;

-- name: list_project_names
SELECT id, name FROM projects ORDER BY name, id;

-- name: exists_project
SELECT EXISTS (SELECT 1 FROM projects WHERE id = %(id)s);

-- name: find_feature_naming
SELECT feature_naming FROM projects WHERE id = %(id)s;

-- name: count_feature_types
SELECT type, count(*) AS count
FROM features
WHERE project = %(id)s AND archived_at IS NULL
GROUP BY type
ORDER BY type;

-- name: list_segments_of_project
SELECT name FROM segments WHERE project = %(id)s ORDER BY name;

-- name: put_projects
INSERT INTO projects (id, name, description, mode, default_stickiness)
SELECT id, name, description, mode, "defaultStickiness"
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (id text, name text, description text, mode text, "defaultStickiness" text)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, description = excluded.description, mode = excluded.mode,
    default_stickiness = excluded.default_stickiness, updated_at = now();

-- name: update_project_settings
UPDATE projects
SET mode = %(mode)s, feature_naming = %(feature_naming)s::jsonb,
    link_templates = %(link_templates)s::jsonb, updated_at = now()
WHERE id = %(id)s;

-- name: list_confirming_projects
SELECT id FROM projects WHERE confirms_production;

-- name: set_confirmation
UPDATE projects SET confirms_production = %(confirms)s, updated_at = now() WHERE id = %(id)s;

-- name: delete_archived_features
DELETE FROM features WHERE project = %(id)s AND archived_at IS NOT NULL RETURNING name;

-- name: delete_action_sets
DELETE FROM action_sets WHERE project = %(id)s RETURNING id, name;

-- name: delete_project
DELETE FROM projects WHERE id = %(id)s;

-- name: count_for_status
-- Flags are potentially stale when they are older than the lifetime of their type.
SELECT count(*) AS features,
       count(*) FILTER (WHERE f.stale) AS stale,
       count(*) FILTER (WHERE NOT f.stale
                          AND f.created_at < now() - make_interval(days => t.lifetime_days))
       AS potentially_stale,
       (SELECT count(*) FROM api_tokens WHERE %(project)s = ANY(projects)) AS api_tokens,
       (SELECT count(*) FROM segments WHERE project = %(project)s) AS segments
FROM features f
JOIN feature_types t ON t.id = f.type
WHERE f.project = %(project)s AND f.archived_at IS NULL;

-- name: count_events_by_day
-- The events of the last year, by day in UTC; days without events are missing.
SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS events
FROM events
WHERE project = %(project)s AND created_at > now() - interval '1 year'
GROUP BY 1
ORDER BY 1;
