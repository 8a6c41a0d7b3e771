-- The log of a release is the part of the audit log with its ID: each row of release_events was an event of it too.
-- Those that its retention has deleted come back, in the place that they had: below the oldest event.

CREATE INDEX events_release_idx ON events ((data -> 'releaseId'), id) WHERE type LIKE 'release-%';

WITH deleted AS (
    SELECT v.*, 'release-' || lower(regexp_replace(v.type, '([A-Z])', '-\1', 'g')) AS event_type,
           count(*) OVER () - row_number() OVER (ORDER BY v.id) AS newer_count
    FROM release_events v
    WHERE NOT EXISTS (
        SELECT FROM events e
        WHERE e.type LIKE 'release-%' AND e.data -> 'releaseId' = to_jsonb(v.release_id)
          AND e.type = 'release-' || lower(regexp_replace(v.type, '([A-Z])', '-\1', 'g'))
          AND e.created_at = v.created_at AND e.data ->> 'text' = v.text
    )
)
INSERT INTO events (id, created_at, type, created_by, project, environment, feature_name, data)
OVERRIDING SYSTEM VALUE
SELECT coalesce((SELECT min(id) FROM events), (SELECT last_value + 1 FROM events_id_seq)) - 1 - d.newer_count,
       d.created_at, d.event_type, d.actor, f.project, r.environment, r.feature,
       jsonb_build_object('releaseId', r.id, 'text', d.text, 'step', d.step, 'rollout', d.rollout,
                          'reason', d.reason, 'guard', d.guard)
FROM deleted d
JOIN releases r ON r.id = d.release_id
JOIN features f ON f.name = r.feature;

DROP TABLE release_events;
