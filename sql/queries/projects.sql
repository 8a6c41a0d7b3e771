-- Projects: who owns flags.

-- name: find_project
SELECT id, name, description, mode, default_stickiness, created_at, updated_at
FROM projects
WHERE id = %(id)s;

-- name: list_projects
-- All, or the one named; with how many flags there are that are not archived.
SELECT projects.id, projects.name, projects.description, projects.mode,
    projects.default_stickiness, projects.created_at, projects.updated_at,
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
