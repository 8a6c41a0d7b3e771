-- The documents of SDKs as JSON text: PostgreSQL builds it several times faster than Python.

-- name: list_client_features
-- Flags, with the dependency of those that have a parent; enabled or not, but not archived. Then the
-- segments that their strategies in the environment use (others may hold personal data of other
-- projects), unless segments are inlined for old SDKs, and the revision of the environment. One
-- statement, so all of it is of one snapshot: with a revision that was read before, the flags of a
-- change could get the number of the state before it, to which a restored database goes back.
--
-- What belongs to a flag is looked up for each flag by an index. For joins the planner chooses nested
-- loops over all rows if it has no statistics, as after an import: they take seconds for 5000 flags.
-- The rows have no order; the caller sorts them faster.
WITH flags AS MATERIALIZED (
    SELECT f.name, f.type, f.project, f.stale, f.description, f.impression_data, e.enabled,
           e.variants, l.strategies, l.segment_ids, d.dependencies
    FROM features f
    LEFT JOIN LATERAL (
        SELECT x.enabled, x.variants
        FROM feature_environments x
        WHERE x.feature = f.name AND x.environment = %(environment)s
        LIMIT 1
    ) e ON true
    CROSS JOIN LATERAL (
        SELECT json_agg(
                   CASE WHEN g.ids IS NULL THEN
                       json_build_object(
                           'name', s.name, 'parameters', s.parameters, 'variants', s.variants,
                           'constraints', s.constraints)
                   WHEN %(inline)s::boolean THEN
                       json_build_object(
                           'name', s.name, 'parameters', s.parameters, 'variants', s.variants,
                           'constraints', s.constraints || (
                               SELECT jsonb_path_query_array(jsonb_agg(n.constraints ORDER BY n.id),
                                                             '$[*][*]')
                               FROM segments n
                               WHERE n.id = ANY(g.ids)))
                   ELSE
                       json_build_object(
                           'name', s.name, 'parameters', s.parameters, 'variants', s.variants,
                           'constraints', s.constraints, 'segments', g.ids)
                   END
                   ORDER BY s.sort_order, s.created_at, s.id) AS strategies,
               string_agg(array_to_string(g.ids, ','), ',') AS segment_ids
        FROM feature_strategies s
        CROSS JOIN LATERAL (
            SELECT array_agg(x.segment_id ORDER BY x.segment_id) AS ids
            FROM strategy_segments x
            WHERE x.strategy_id = s.id
        ) g
        WHERE s.feature = f.name AND s.environment = %(environment)s AND NOT s.disabled
    ) l
    LEFT JOIN LATERAL (
        SELECT json_build_array(
                   jsonb_build_object('feature', d.parent, 'enabled', d.enabled)
                   || CASE WHEN d.enabled AND d.variants <> '[]'
                           THEN jsonb_build_object('variants', d.variants) ELSE '{}' END)::text
               AS dependencies
        FROM feature_dependencies d
        WHERE d.child = f.name
        LIMIT 1
    ) d ON true
    WHERE f.archived_at IS NULL
      AND (%(name)s::text IS NULL OR f.name = %(name)s)
      AND (%(projects)s::text[] IS NULL OR f.project = ANY(%(projects)s))
      AND (%(prefix)s::text IS NULL OR starts_with(f.name, %(prefix)s))
      AND (%(tags)s::text[] IS NULL OR EXISTS (
            SELECT 1 FROM feature_tags t
            WHERE t.feature = f.name AND t.type || ':' || t.value = ANY(%(tags)s)
            OFFSET 0))
)
SELECT 'flag' AS item_type, name,
       json_build_object(
           'name', name, 'type', type, 'enabled', coalesce(enabled, false), 'project', project,
           'stale', stale, 'description', description, 'impressionData', impression_data,
           'strategies', coalesce(strategies, '[]'), 'variants', coalesce(variants, '[]'))::text AS body,
       dependencies
FROM flags
UNION ALL
SELECT 'segment', to_char(g.id, 'FM0000000000'),
       json_build_object('id', g.id, 'name', g.name, 'constraints', g.constraints)::text, NULL
FROM (SELECT DISTINCT unnest(string_to_array(segment_ids, ','))::int AS id FROM flags) u
CROSS JOIN LATERAL (SELECT id, name, constraints FROM segments WHERE id = u.id LIMIT 1) g
WHERE NOT %(inline)s::boolean
UNION ALL
SELECT 'revision', '', coalesce(max(id), 0)::text, NULL
FROM revisions
WHERE topic IN ('all', 'in/' || %(environment)s);
