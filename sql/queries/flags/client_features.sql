-- The flags of SDKs as JSON text: PostgreSQL builds it several times faster than Python.

-- name: list_client_features
-- Flags of an environment, enabled or not, but not archived: all, or those that changes after the revision
-- `since` touched. Then the segments that their strategies use, the segments that the changes touched, the
-- changes, and the revisions. One statement reads everything in one snapshot: with a revision that was read
-- earlier, the flags of a change could get the number of the state before it, to which a restored database
-- goes back. `digests` replaces texts by their MD5.
--
-- The parts of a flag are looked up for each flag by an index. For joins the planner chooses nested loops
-- over all rows if it has no statistics, as after an import: they take seconds for 5000 flags. The rows have
-- no order; the caller sorts them faster.
WITH changes AS MATERIALIZED (
    SELECT revision, previous, environments, flags, segments
    FROM revision_changes
    WHERE revision > %(since)s::bigint
      AND revision <= (SELECT id FROM revisions WHERE topic = '')
    ORDER BY revision
    LIMIT 5000
), own_changes AS MATERIALIZED (
    SELECT flags, segments FROM changes
    WHERE environments IS NULL OR %(environment)s = ANY(environments)
), found AS MATERIALIZED (
    SELECT f.name, f.type, f.project, f.stale, f.description, f.impression_data, e.enabled,
           e.variants, l.strategies, l.segment_ids, d.dependencies, t.tags
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
        SELECT ', "dependencies" : ' || json_build_array(
                   jsonb_build_object('feature', d.parent, 'enabled', d.enabled)
                   || CASE WHEN d.enabled AND d.variants <> '[]'
                           THEN jsonb_build_object('variants', d.variants) ELSE '{}' END)::text
               AS dependencies
        FROM feature_dependencies d
        WHERE d.child = f.name
        LIMIT 1
    ) d ON true
    CROSS JOIN LATERAL (
        SELECT array_agg(t.type || ':' || t.value ORDER BY t.type, t.value) AS tags
        FROM feature_tags t
        WHERE t.feature = f.name
    ) t
    WHERE f.archived_at IS NULL
      AND (%(since)s::bigint IS NULL
           OR f.name = ANY(ARRAY(SELECT unnest(flags) FROM own_changes)))
), items AS (
    SELECT 'flag' AS item_type, name, project,
           string_to_array(segment_ids, ',')::integer[] AS segment_ids, tags,
           -- A text without line breaks fits an event of a stream.
           replace(left(json_build_object(
               'name', name, 'type', type, 'enabled', coalesce(enabled, false), 'project', project,
               'stale', stale, 'description', description, 'impressionData', impression_data,
               'strategies', coalesce(strategies, '[]'), 'variants', coalesce(variants, '[]'))::text,
               -1), E'\n', '') || coalesce(dependencies, '') || '}' AS body
    FROM found
    UNION ALL
    SELECT 'segment', g.id::text, NULL, NULL, NULL,
           json_build_object('id', g.id, 'name', g.name, 'constraints', g.constraints)::text
    FROM (SELECT unnest(string_to_array(segment_ids, ','))::integer AS id FROM found
          UNION
          SELECT unnest(segments) FROM own_changes) u
    CROSS JOIN LATERAL (SELECT id, name, constraints FROM segments WHERE id = u.id LIMIT 1) g
)
SELECT item_type, name, project, segment_ids, tags,
       CASE WHEN %(digests)s::boolean THEN md5(body) ELSE body END AS body
FROM items
UNION ALL
SELECT 'change', revision::text, NULL, NULL, NULL, row_to_json(changes)::text FROM changes
UNION ALL
SELECT 'revision', topic, NULL, NULL, NULL, json_build_array(id, event_id)::text FROM revisions;
