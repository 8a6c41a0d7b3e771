-- Integrations: which events go to which other system. Their deliveries are in the outbox.

-- name: lock_integrations
-- One change at a time: the limit and the secrets can't race. A rotation of the key waits too.
SELECT pg_advisory_xact_lock(hashtext('integrations'));

-- name: list_integrations
-- All, or one with its deliveries that wait, the last one that was sent and the last error.
SELECT i.id, i.provider, i.enabled, i.description, i.parameters, i.secrets, i.events, i.projects,
       i.environments, i.disabled_reason, i.source, i.created_at, w.waiting, s.sent_at AS last_sent_at,
       e.last_error
FROM integrations i
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting FROM outbox o
    WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.sent_at IS NULL
      AND o.given_up_at IS NULL
) w
LEFT JOIN LATERAL (
    SELECT o.sent_at FROM outbox o
    WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.sent_at IS NOT NULL
    ORDER BY o.id DESC LIMIT 1
) s ON true
LEFT JOIN LATERAL (
    SELECT o.last_error FROM outbox o
    WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.attempts > 0
    ORDER BY o.id DESC LIMIT 1
) e ON true
WHERE %(id)s::integer IS NULL OR i.id = %(id)s
ORDER BY i.id;

-- name: insert_integration
INSERT INTO integrations (provider, enabled, description, parameters, secrets, events, projects,
                          environments, source, created_at)
VALUES (%(provider)s, %(enabled)s, %(description)s, %(parameters)s, %(secrets)s, %(events)s,
        %(projects)s, %(environments)s, %(source)s, %(now)s)
RETURNING id;

-- name: update_integration
UPDATE integrations
SET enabled = %(enabled)s, description = %(description)s, parameters = %(parameters)s,
    secrets = %(secrets)s, events = %(events)s, projects = %(projects)s,
    environments = %(environments)s, disabled_reason = NULL
WHERE id = %(id)s;

-- name: update_secrets
UPDATE integrations i
SET secrets = x.secrets
FROM unnest(%(ids)s::integer[], %(secrets)s::bytea[]) AS x (id, secrets)
WHERE i.id = x.id;

-- name: disable_integration
UPDATE integrations SET enabled = false, disabled_reason = %(reason)s WHERE id = %(id)s AND enabled;

-- name: delete_integration
DELETE FROM integrations WHERE id = %(id)s;

-- name: delete_deliveries
-- Of an integration that is deleted.
DELETE FROM outbox WHERE kind = 'integration' AND subject_id = %(id)s;

-- name: delete_waiting_deliveries
-- Of an integration that is disabled.
DELETE FROM outbox
WHERE kind = 'integration' AND subject_id = %(id)s AND sent_at IS NULL AND given_up_at IS NULL;

-- name: delete_orphaned_deliveries
-- Of changes that ran while their integration was disabled or deleted.
DELETE FROM outbox
WHERE id IN (
    SELECT o.id FROM outbox o
    WHERE o.kind = 'integration' AND o.sent_at IS NULL AND o.given_up_at IS NULL
      AND NOT EXISTS (SELECT FROM integrations i WHERE i.id = o.subject_id AND i.enabled)
    LIMIT %(chunk)s
);

-- name: claim_deliveries
-- The first waiting delivery of each integration, if it is due and its integration is not `busy`. The
-- claim ends at `until`, so that another process sends it if the first was killed. A process that chose
-- the same row waits for its lock and finds that it isn't due any longer. `is_busy` says whether any
-- process has recorded an event within half a second.
UPDATE outbox m
SET attempts = m.attempts + 1, due_at = %(until)s
FROM (
    SELECT i.provider, i.parameters, i.secrets, head.id, e.id AS event_id, e.type, e.created_by,
           e.created_by_user_id, e.created_at, e.project, e.environment, e.feature_name, e.data,
           e.pre_data, e.tags
    FROM integrations i
    CROSS JOIN LATERAL (
        SELECT o.id, o.due_at, o.event_id FROM outbox o
        WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.sent_at IS NULL
          AND o.given_up_at IS NULL
        ORDER BY o.id
        LIMIT 1
    ) head
    LEFT JOIN events e ON e.id = head.event_id
    WHERE i.enabled AND head.due_at <= %(now)s AND NOT i.id = ANY(%(busy)s)
      AND (%(id)s::integer IS NULL OR i.id = %(id)s)
) first
WHERE m.id = first.id AND m.due_at <= %(now)s AND m.sent_at IS NULL AND m.given_up_at IS NULL
RETURNING m.id, m.message_id, m.subject_id, m.payload, m.attempts, m.expires_at, m.last_error,
          first.provider, first.parameters, first.secrets, first.event_id, first.type,
          first.created_by, first.created_by_user_id, first.created_at, first.project,
          first.environment, first.feature_name, first.data, first.pre_data, first.tags,
          (SELECT newest.created_at > clock_timestamp() - interval '0.5 s'
           FROM events newest ORDER BY newest.id DESC LIMIT 1) AS is_busy;

-- name: list_deliveries
-- Newest first. `attempted_only` leaves out those that were never tried.
SELECT o.id AS delivery_id, o.attempts, o.last_error, o.payload, o.created_at AS queued_at,
       o.due_at, o.sent_at, o.given_up_at, o.event_id, e.type, e.created_by, e.created_by_user_id,
       e.created_at, e.project, e.environment, e.feature_name, e.data, e.pre_data, e.tags
FROM outbox o
LEFT JOIN events e ON e.id = o.event_id
WHERE o.kind = 'integration' AND o.subject_id = %(id)s
  AND (%(delivery_id)s::bigint IS NULL OR o.id = %(delivery_id)s)
  AND (NOT %(attempted_only)s OR o.attempts > 0 OR o.given_up_at IS NOT NULL)
  AND (%(state)s::text IS NULL OR %(state)s = CASE WHEN o.sent_at IS NOT NULL THEN 'sent'
       WHEN o.given_up_at IS NOT NULL THEN 'given up' ELSE 'waiting' END)
ORDER BY o.id DESC
LIMIT %(limit)s OFFSET %(offset)s;
