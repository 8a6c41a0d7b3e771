-- Strategies of a flag in an environment, with their segments.

-- name: set_strategy_segments
-- Sets the same segments for several strategies.
WITH removed AS (
    DELETE FROM strategy_segments
    WHERE strategy_id = ANY(%(ids)s) AND NOT segment_id = ANY(%(segments)s::int[])
)
INSERT INTO strategy_segments (strategy_id, segment_id)
SELECT strategy, segment
FROM unnest(%(ids)s::text[]) AS strategy, unnest(%(segments)s::int[]) AS segment
ON CONFLICT DO NOTHING;

-- part: strategy
SELECT s.id, s.feature, s.environment, s.name, s.title, s.disabled, s.sort_order, s.parameters,
       s.constraints, s.variants,
       array(SELECT g.segment_id FROM strategy_segments g WHERE g.strategy_id = s.id
             ORDER BY g.segment_id) AS segments
FROM feature_strategies s

-- name: list_strategies
-- The strategies of several flags, in one environment or in all (NULL).
{{strategy}}
WHERE s.feature = ANY(%(features)s)
  AND (%(environment)s::text IS NULL OR s.environment = %(environment)s)
ORDER BY s.feature, s.environment, s.sort_order, s.created_at, s.id;

-- name: find_strategy
{{strategy}}
WHERE s.id = %(id)s;

-- name: insert_strategies
INSERT INTO feature_strategies (id, feature, environment, name, title, disabled, sort_order,
                                parameters, constraints, variants)
SELECT id, feature, environment, name, title, disabled, "sortOrder", parameters, constraints,
       variants
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (id text, feature text, environment text, name text, title text, disabled boolean,
           "sortOrder" integer, parameters jsonb, constraints jsonb, variants jsonb);

-- name: update_strategy
UPDATE feature_strategies s
SET name = x.name, title = x.title, disabled = x.disabled, sort_order = x."sortOrder",
    parameters = x.parameters, constraints = x.constraints, variants = x.variants
FROM jsonb_to_record(%(item)s::jsonb)
     AS x (id text, name text, title text, disabled boolean, "sortOrder" integer, parameters jsonb,
           constraints jsonb, variants jsonb)
WHERE s.id = x.id;

-- name: set_strategy_parameters
-- Sets some parameters, and bumps the revisions. Returns the strategy as it was.
WITH before AS MATERIALIZED (
    {{strategy}}
    WHERE s.id = %(id)s AND s.feature = %(feature)s AND s.environment = %(environment)s
), changed AS (
    UPDATE feature_strategies SET parameters = parameters || %(parameters)s::jsonb
    WHERE id = (SELECT id FROM before)
), {{revisions.bump}}
SELECT id, name, title, disabled, sort_order, parameters, constraints, variants, segments FROM before;

-- name: enable_strategies
UPDATE feature_strategies SET disabled = false
WHERE id = ANY(%(ids)s) AND disabled;

-- name: set_sort_orders
UPDATE feature_strategies s
SET sort_order = o.sort_order
FROM unnest(%(ids)s::text[], %(sort_orders)s::int[]) AS o (id, sort_order)
WHERE s.id = o.id AND s.feature = %(feature)s AND s.environment = %(environment)s;

-- name: delete_strategy
DELETE FROM feature_strategies WHERE id = %(id)s;

-- name: copy_strategies
-- Copies the strategies of one flag to another, with their segments and order.
WITH copies AS (
    SELECT gen_random_uuid()::text AS new_id, s.*
    FROM feature_strategies s
    WHERE s.feature = %(source)s
), inserted AS (
    INSERT INTO feature_strategies (id, feature, environment, name, title, disabled, sort_order,
                                    parameters, constraints, variants, created_at)
    SELECT new_id, %(target)s, environment, name, title, disabled, sort_order,
           CASE WHEN %(group_id)s::text IS NOT NULL AND parameters ? 'groupId'
                THEN parameters || jsonb_build_object('groupId', %(group_id)s::text)
                ELSE parameters END,
           constraints, variants, created_at
    FROM copies
)
INSERT INTO strategy_segments (strategy_id, segment_id)
SELECT c.new_id, g.segment_id FROM copies c JOIN strategy_segments g ON g.strategy_id = c.id;
