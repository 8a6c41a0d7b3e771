-- The rule of a guard is an alert rule that belongs to the guard and has neither name nor endpoint. `leased_until`
-- is the time until which one process may query the metric source of a rule.

ALTER TABLE alert_rules
    ADD COLUMN guard_id bigint UNIQUE REFERENCES release_guards (id) ON DELETE CASCADE,
    ADD COLUMN leased_until timestamptz,
    ALTER COLUMN name DROP NOT NULL,
    ALTER COLUMN endpoint_id DROP NOT NULL,
    ADD CHECK (num_nulls(guard_id, name) = 1 AND num_nulls(guard_id, endpoint_id) = 1);

CREATE INDEX alert_rules_due_at_idx ON alert_rules (due_at) WHERE enabled;

INSERT INTO alert_rules (guard_id, enabled, condition, state, since, streak, has_fired, unknown_since, value, samples,
                         window_from, window_to, reason, evaluated_at)
SELECT id, is_watching, definition -> 'rule', r.state, r.since, r.streak, r.has_fired, r.unknown_since, value,
       coalesce(samples, 0), covers_from, covers_to, coalesce(rule_reason, 'The rule was not evaluated yet.'), covers_to
FROM release_guards
CROSS JOIN jsonb_to_record(coalesce(rule_state, jsonb_build_object(
               'state', 'unknown', 'since', since, 'streak', 0, 'has_fired', false)))
           AS r (state text, since timestamptz, streak integer, has_fired boolean, unknown_since timestamptz)
WHERE kind = 'rule'
ORDER BY id;

ALTER TABLE release_guards
    DROP COLUMN value,
    DROP COLUMN "limit",
    DROP COLUMN samples,
    DROP COLUMN covers_from,
    DROP COLUMN covers_to,
    DROP COLUMN rule_state,
    DROP COLUMN rule_reason,
    DROP COLUMN due_at,
    DROP COLUMN query_due_at;

ALTER TABLE metric_sources DROP COLUMN claimed_until;
