-- Silence of an endpoint is a source of alert rules: endpoints expect no signals themselves, and guards watch a rule
-- of their own instead of the state of an endpoint. `last_signal_id` and `last_signal_at` are the newest signal that
-- the rule knows, `alert_key` ties the signals of an alert after the endpoint got another name.

ALTER TABLE alert_rules
    ADD COLUMN silent_endpoint_id integer GENERATED ALWAYS AS (
        CASE WHEN condition #>> '{source,kind}' = 'silence' THEN (condition #>> '{source,endpointId}')::integer END
    ) STORED REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    ADD COLUMN last_signal_id bigint,
    ADD COLUMN last_signal_at timestamptz,
    ADD COLUMN alert_key text;
CREATE INDEX alert_rules_silent_endpoint_idx ON alert_rules (silent_endpoint_id) WHERE silent_endpoint_id IS NOT NULL;

INSERT INTO alert_rules (name, endpoint_id, enabled, condition, created_by_user_id, state, since, has_fired,
                         window_from, samples, reason, last_signal_id, last_signal_at, alert_key)
SELECT left(e.name, 80) || '-silence-' || e.id, e.id, true,
       jsonb_build_object('source', jsonb_build_object('kind', 'silence', 'endpointId', e.id)
                                    || (e.options -> 'silence')),
       e.created_by_user_id,
       CASE c.state WHEN 'down' THEN 'firing' WHEN 'up' THEN 'ok' WHEN 'late' THEN 'ok' ELSE 'unknown' END,
       coalesce(c.since, now()), coalesce(c.state = 'down', false), c.last_signal_at,
       (c.last_signal_id IS NOT NULL)::integer, 'The rule was not evaluated yet.', c.last_signal_id, c.last_signal_at,
       CASE c.state WHEN 'down' THEN c.alert_key END
FROM signal_endpoints e
LEFT JOIN silence_checks c ON c.endpoint_id = e.id
WHERE e.options ? 'silence';

UPDATE release_guards g
SET kind = 'rule',
    definition = (g.definition - 'endpointId') || jsonb_build_object(
        'kind', 'rule',
        'rule', jsonb_build_object('source', jsonb_build_object('kind', 'silence', 'endpointId',
                                                                g.definition -> 'endpointId')
            || coalesce((SELECT e.options -> 'silence' FROM signal_endpoints e WHERE e.id = g.endpoint_id),
                        '{"everySeconds": 3600}')))
WHERE g.kind = 'silence';

INSERT INTO alert_rules (guard_id, enabled, condition, reason)
SELECT g.id, g.is_watching, g.definition -> 'rule', 'The rule was not evaluated yet.'
FROM release_guards g
JOIN signal_endpoints e ON to_jsonb(e.id) = g.definition #> '{rule,source,endpointId}'
WHERE g.kind = 'rule' AND g.definition #>> '{rule,source,kind}' = 'silence';

UPDATE signal_endpoints SET options = options - 'silence' WHERE options ? 'silence';
DROP TABLE silence_checks, silence_clock;
