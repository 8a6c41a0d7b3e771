-- Integrations, which send events to other systems. Their deliveries are in the outbox.

-- name: lock_integrations
-- One change at a time: the limit and the secrets can't race. A rotation of the key waits too.
SELECT pg_advisory_xact_lock(hashtext('integrations'));

-- name: list_integrations
-- All integrations, or one with its waiting deliveries, its last sent delivery and its last error.
SELECT i.id, i.name, i.provider, i.enabled, i.description, i.parameters, i.secrets, i.events, i.projects,
       i.environments, i.disabled_reason, i.source, i.created_at, w.waiting, s.sent_at AS last_sent_at,
       e.last_error
FROM integrations i
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting
    FROM outbox o
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
INSERT INTO integrations (name, provider, enabled, description, parameters, secrets, events, projects,
                          environments, source, created_at)
VALUES (%(name)s, %(provider)s, %(enabled)s, %(description)s, %(parameters)s, %(secrets)s, %(events)s,
        %(projects)s, %(environments)s, %(source)s, %(now)s)
RETURNING id;

-- name: update_integration
UPDATE integrations
SET name = %(name)s, enabled = %(enabled)s, description = %(description)s, parameters = %(parameters)s,
    secrets = %(secrets)s, events = %(events)s, projects = %(projects)s,
    environments = %(environments)s, disabled_reason = NULL
WHERE id = %(id)s;

-- name: update_secrets
UPDATE integrations i
SET secrets = x.secrets
FROM unnest(%(ids)s::integer[], %(secrets)s::bytea[]) AS x (id, secrets)
WHERE i.id = x.id;

-- name: disable_integration
-- Only the version that the receiver refused.
UPDATE integrations SET enabled = false, disabled_reason = %(reason)s
WHERE id = %(id)s AND enabled AND xmin::text = %(version)s;

-- name: delete_integration
DELETE FROM integrations WHERE id = %(id)s;

-- name: delete_deliveries
-- Called when an integration is deleted.
DELETE FROM outbox WHERE kind = 'integration' AND subject_id = %(id)s;

-- name: delete_waiting_deliveries
-- Called when an integration is disabled or deleted. Locks deliveries in the order in which they are leased.
DELETE FROM outbox
WHERE id IN (
    SELECT id FROM outbox
    WHERE kind = 'integration' AND subject_id = %(id)s AND sent_at IS NULL AND given_up_at IS NULL
    ORDER BY id
    FOR UPDATE
);

-- name: delete_lease
-- Called when an integration is deleted.
DELETE FROM integration_leases WHERE integration_id = %(id)s;

-- part: end_of_lease
-- Longer than any delivery. By the clock of the database, because those of processes may differ.
now() + interval '35 s'

-- name: lease_queues, planned once
-- The queues whose first delivery is due, unless another process has leased them. Excludes integrations that
-- are `busy`. The lease ends, so that another process sends if the first was killed. Only the
-- index of the queues is used to find the first delivery, whatever the statistics are.
INSERT INTO integration_leases AS c (integration_id, leased_by, leased_until)
SELECT i.id, %(owner)s, {{end_of_lease}}
FROM integrations i
CROSS JOIN LATERAL (
    SELECT o.id FROM outbox o
    WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.sent_at IS NULL AND o.given_up_at IS NULL
    ORDER BY o.id
    LIMIT 1
) oldest
JOIN outbox o ON o.id = oldest.id AND o.due_at <= %(now)s
WHERE i.enabled AND NOT i.id = ANY(%(busy)s)
ON CONFLICT (integration_id) DO UPDATE
SET leased_by = excluded.leased_by, leased_until = excluded.leased_until
WHERE c.leased_until NOT BETWEEN now() AND {{end_of_lease}} OR c.leased_by = excluded.leased_by
RETURNING c.integration_id;

-- name: list_next_deliveries, planned once
-- The deliveries of a queue that `owner` has leased: up to `limit`, in order, before the first one that
-- isn't due. Extends the lease. It is a separate statement, because the statement that leases a queue could
-- see deliveries that the previous process has sent. LATERAL and LIMIT 1, because a join could read all
-- events.
WITH leases AS (
    UPDATE integration_leases SET leased_until = {{end_of_lease}}
    WHERE integration_id = %(id)s AND leased_by = %(owner)s
    RETURNING integration_id
)
SELECT d.id, d.message_id, d.subject_id, d.payload, d.attempts + 1 AS attempts, d.due_at, d.expires_at,
       d.last_error, i.provider, i.parameters, i.secrets, i.xmin::text AS version, e.id AS event_id,
       e.type, e.created_by, e.created_by_user_id, e.created_at, e.project, e.environment,
       e.feature_name, e.data, e.pre_data, e.tags
FROM leases c
JOIN integrations i ON i.id = c.integration_id AND i.enabled
CROSS JOIN LATERAL (
    SELECT waiting.*, bool_and(waiting.due_at <= %(now)s) OVER (ORDER BY waiting.id) AS is_next
    FROM (
        SELECT o.id, o.message_id, o.subject_id, o.payload, o.attempts, o.due_at, o.expires_at,
               o.last_error, o.event_id
        FROM outbox o
        WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.sent_at IS NULL
          AND o.given_up_at IS NULL
        ORDER BY o.id
        LIMIT %(limit)s
    ) waiting
) d
LEFT JOIN LATERAL (
    SELECT id, type, created_by, created_by_user_id, created_at, project, environment, feature_name,
           data, pre_data, tags
    FROM events
    WHERE id = d.event_id
    LIMIT 1
) e ON true
WHERE d.is_next
ORDER BY d.id;

-- name: release_queue, planned once
UPDATE integration_leases SET leased_until = 'epoch'
WHERE integration_id = %(id)s AND leased_by = %(owner)s;

-- name: settle_delivery, planned once
-- Stores the result of an attempt, unless a later one was stored or the delivery was deleted. Returns the version of
-- the integration. An unfinished attempt doesn't count yet.
UPDATE outbox m
SET attempts = %(attempts)s::integer - (%(result)s = 'unfinished')::integer,
    sent_at = CASE WHEN %(result)s = 'sent' THEN %(now)s::timestamptz END,
    given_up_at = CASE WHEN %(result)s = 'given up' THEN %(now)s::timestamptz END,
    due_at = %(due_at)s, last_error = %(error)s, payload = coalesce(%(payload)s::jsonb, payload)
WHERE id = %(id)s AND attempts = %(attempts)s::integer - 1 AND sent_at IS NULL AND given_up_at IS NULL
RETURNING (SELECT i.xmin::text FROM integrations i WHERE i.id = m.subject_id) AS version;

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
