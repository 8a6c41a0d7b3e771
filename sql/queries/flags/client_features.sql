-- The documents of SDKs as JSON text: PostgreSQL builds it several times faster than Python.

-- name: list_client_features
-- Flags, with the dependency of those that have a parent; enabled or not, but not archived. Then
-- segments that a strategy of these projects uses in the environment (others may hold personal
-- data of other projects), unless segments are inlined for old SDKs, and the revision of the
-- environment. One statement, so all of it is of one snapshot: with a revision that was read before,
-- the flags of a change could get the number of the state before it, to which a restored database
-- goes back. LATERAL with LIMIT because without statistics, after an
-- import, the planner joins the environments of all flags with each flag: 80 ms for 1000 flags.
-- OFFSET 0 because the planner would start from the strategies of all flags, not from the segments.
WITH strategies AS (
    SELECT s.feature,
           json_agg(
               CASE WHEN g.ids IS NULL OR %(inline)s::boolean THEN
                   json_build_object(
                       'name', s.name, 'parameters', s.parameters, 'variants', s.variants,
                       'constraints', CASE WHEN g.constraints IS NULL THEN s.constraints
                                           ELSE s.constraints || g.constraints END)
               ELSE
                   json_build_object(
                       'name', s.name, 'parameters', s.parameters, 'variants', s.variants,
                       'constraints', s.constraints, 'segments', g.ids)
               END
               ORDER BY s.sort_order, s.created_at, s.id) AS list
    FROM feature_strategies s
    LEFT JOIN (SELECT x.strategy_id, jsonb_agg(x.segment_id ORDER BY x.segment_id) AS ids,
                      CASE WHEN %(inline)s::boolean
                           THEN jsonb_path_query_array(jsonb_agg(n.constraints ORDER BY n.id),
                                                       '$[*][*]') END AS constraints
               FROM strategy_segments x
               JOIN segments n ON n.id = x.segment_id
               GROUP BY x.strategy_id) g ON g.strategy_id = s.id
    WHERE s.environment = %(environment)s AND NOT s.disabled
    GROUP BY s.feature
)
SELECT 'flag' AS item_type, f.name,
       json_build_object(
           'name', f.name, 'type', f.type, 'enabled', coalesce(e.enabled, false),
           'project', f.project, 'stale', f.stale, 'description', f.description,
           'impressionData', f.impression_data, 'strategies', coalesce(s.list, '[]'),
           'variants', coalesce(e.variants, '[]'))::text AS body,
       CASE WHEN d.child IS NOT NULL THEN
           json_build_array(
               jsonb_build_object('feature', d.parent, 'enabled', d.enabled)
               || CASE WHEN d.enabled AND d.variants <> '[]'
                       THEN jsonb_build_object('variants', d.variants) ELSE '{}' END)::text
       END AS dependencies
FROM features f
LEFT JOIN LATERAL (SELECT x.enabled, x.variants
                   FROM feature_environments x
                   WHERE x.feature = f.name AND x.environment = %(environment)s
                   LIMIT 1) e ON true
LEFT JOIN strategies s ON s.feature = f.name
LEFT JOIN feature_dependencies d ON d.child = f.name
WHERE f.archived_at IS NULL
  AND (%(name)s::text IS NULL OR f.name = %(name)s)
  AND (%(projects)s::text[] IS NULL OR f.project = ANY(%(projects)s))
  AND (%(prefix)s::text IS NULL OR starts_with(f.name, %(prefix)s))
  AND (%(tags)s::text[] IS NULL OR EXISTS (
        SELECT 1 FROM feature_tags t
        WHERE t.feature = f.name AND t.type || ':' || t.value = ANY(%(tags)s)))
UNION ALL
SELECT 'segment', to_char(g.id, 'FM0000000000'),
       json_build_object('id', g.id, 'name', g.name, 'constraints', g.constraints)::text, NULL
FROM segments g
WHERE NOT %(inline)s::boolean
  AND EXISTS (
        SELECT 1
        FROM strategy_segments x
        JOIN feature_strategies s ON s.id = x.strategy_id
        JOIN features f ON f.name = s.feature
        WHERE x.segment_id = g.id
          AND s.environment = %(environment)s
          AND NOT s.disabled
          AND f.archived_at IS NULL
          AND (%(projects)s::text[] IS NULL OR f.project = ANY(%(projects)s))
        OFFSET 0)
UNION ALL
SELECT 'revision', '', coalesce(max(id), 0)::text, NULL
FROM revisions
WHERE topic IN ('all', 'in/' || %(environment)s)
ORDER BY 1, 2;
