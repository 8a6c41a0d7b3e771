-- Integrations subscribe to the events of runs, alert rules and releases: nothing else has recipients. An
-- integration that was chosen by its name gets these events; the addresses of the other recipients stay out,
-- because an integration stores them encrypted.

CREATE TABLE recipients AS
SELECT 'action set ' || s.name || ' of ' || s.project AS owner, channel
FROM action_sets s, jsonb_array_elements(s.settings -> 'notifications') channel
UNION ALL
SELECT 'signal endpoint ' || e.name, channel
FROM signal_endpoints e, jsonb_array_elements(e.options -> 'silence' -> 'notifications') channel
UNION ALL
SELECT 'alert rule ' || r.name, channel
FROM alert_rules r, jsonb_array_elements(r.notifications) channel
UNION ALL
SELECT 'release of ' || r.feature || ' in ' || r.environment, channel
FROM releases r, jsonb_array_elements(r.plan -> 'notifications') channel
WHERE r.state IN ('scheduled', 'running', 'held');

UPDATE integrations i
SET events = i.events || added.types
FROM (
    SELECT r.channel ->> 'name' AS name, array_agg(DISTINCT t.type) AS types
    FROM recipients r
    CROSS JOIN jsonb_array_elements_text(r.channel -> 'on') AS state
    JOIN (VALUES
        ('success', 'action-run-succeeded'), ('success', 'action-run-reverted'),
        ('failed', 'action-run-failed'), ('suppressed', 'action-run-skipped'),
        ('firing', 'alert-rule-firing'), ('down', 'alert-rule-firing'),
        ('resolved', 'alert-rule-resolved'), ('up', 'alert-rule-resolved'),
        ('unknown', 'alert-rule-unknown'),
        ('started', 'release-started'), ('advanced', 'release-advanced'), ('held', 'release-held'),
        ('resumed', 'release-resumed'), ('rolledBack', 'release-rolled-back'),
        ('finished', 'release-finished'), ('stopped', 'release-stopped'),
        ('wouldAct', 'release-would-hold'), ('wouldAct', 'release-would-roll-back')
    ) AS t (state, type) ON t.state = state.value
    GROUP BY 1
) added
WHERE i.name = added.name AND NOT i.events @> '{*}';
UPDATE integrations SET events = ARRAY(SELECT DISTINCT unnest(events)) WHERE name IS NOT NULL;

DO $$
DECLARE
    owner text;
BEGIN
    FOR owner IN SELECT DISTINCT r.owner FROM recipients r WHERE r.channel ->> 'type' <> 'integration' ORDER BY 1 LOOP
        RAISE WARNING 'The recipients of the % are gone: create an integration with its events.', owner;
    END LOOP;
END
$$;
DROP TABLE recipients;

UPDATE action_sets SET settings = settings - 'notifications' WHERE settings ? 'notifications';
UPDATE signal_endpoints SET options = options #- '{silence,notifications}'
WHERE options -> 'silence' ? 'notifications';
UPDATE releases SET plan = plan - 'notifications' WHERE plan ? 'notifications';
ALTER TABLE alert_rules DROP COLUMN notifications;
DELETE FROM outbox WHERE kind NOT IN ('integration', 'reset', 'welcome');
COMMENT ON COLUMN integrations.name IS 'For people; nothing refers to it.';
