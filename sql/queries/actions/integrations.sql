-- Integrations: which events go to which other system. Their deliveries are in the outbox.

-- name: lock_integrations
-- One change at a time: the limit and the secrets can't race. A rotation of the key waits too.
SELECT pg_advisory_xact_lock(hashtext('integrations'));

-- name: list_integrations
-- All, or one with its deliveries that wait, the last one that was sent and the last error.
SELECT i.id, i.name, i.provider, i.enabled, i.description, i.parameters, i.secrets, i.events, i.projects,
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
UPDATE integrations SET enabled = false, disabled_reason = %(reason)s WHERE id = %(id)s AND enabled;

-- name: delete_integration
DELETE FROM integrations WHERE id = %(id)s;

-- name: delete_deliveries
-- Of an integration that is deleted.
DELETE FROM outbox WHERE kind = 'integration' AND subject_id = %(id)s;

-- name: delete_waiting_deliveries
-- Of an integration that is disabled or deleted. Locks them in the order in which they are claimed.
DELETE FROM outbox
WHERE id IN (
    SELECT id FROM outbox
    WHERE kind = 'integration' AND subject_id = %(id)s AND sent_at IS NULL AND given_up_at IS NULL
    ORDER BY id
    FOR UPDATE
);

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
-- Up to `limit` waiting deliveries of each integration, in order, from the first one to the last before
-- one that isn't due, such as those of another claim. None of an integration that is `busy`. The claim
-- ends at `until`, so that another process sends them if the first was killed. A process that chose the same first row finds that it is locked or not due any longer.
-- num_nulls: a partial index of waiting messages that the statistics believe empty must not replace the
-- primary key. LIMIT 1 and ANY: while the outbox is short the planner would begin a join with it, and
-- such a plan is kept when it has become long.
WITH heads AS MATERIALIZED (
    SELECT i.id AS integration_id, i.provider, i.parameters, i.secrets, i.xmin::text AS version, h.id
    FROM integrations i
    CROSS JOIN LATERAL (
        SELECT o.id FROM outbox o
        WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.sent_at IS NULL
          AND o.given_up_at IS NULL
        ORDER BY o.id
        LIMIT 1
    ) oldest
    CROSS JOIN LATERAL (
        SELECT o.id FROM outbox o
        WHERE o.id = oldest.id AND o.due_at <= %(now)s AND num_nulls(o.sent_at, o.given_up_at) = 2
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) h
    WHERE i.enabled AND NOT i.id = ANY(%(busy)s) AND (%(id)s::integer IS NULL OR i.id = %(id)s)
), claimed AS (
    UPDATE outbox m
    SET due_at = %(until)s
    WHERE m.id = ANY(ARRAY(
        SELECT following.id
        FROM heads h
        CROSS JOIN LATERAL (
            SELECT waiting.id, bool_and(waiting.due_at <= %(now)s) OVER (ORDER BY waiting.id) AS is_next
            FROM (
                SELECT o.id, o.due_at FROM outbox o
                WHERE o.kind = 'integration' AND o.subject_id = h.integration_id
                  AND o.sent_at IS NULL AND o.given_up_at IS NULL AND o.id >= h.id
                ORDER BY o.id
                LIMIT %(limit)s
            ) waiting
        ) following
        WHERE following.is_next
    )) AND m.due_at <= %(now)s AND num_nulls(m.sent_at, m.given_up_at) = 2
    RETURNING m.id, m.message_id, m.subject_id, m.payload, m.attempts + 1 AS attempts, m.due_at,
              m.expires_at, m.last_error, m.event_id
)
SELECT c.id, c.message_id, c.subject_id, c.payload, c.attempts, c.due_at, c.expires_at, c.last_error,
       h.provider, h.parameters, h.secrets, h.version, e.id AS event_id, e.type, e.created_by,
       e.created_by_user_id, e.created_at, e.project, e.environment, e.feature_name, e.data,
       e.pre_data, e.tags
FROM claimed c
JOIN heads h ON h.integration_id = c.subject_id
LEFT JOIN events e ON e.id = c.event_id
ORDER BY c.subject_id, c.id;

-- name: settle_deliveries
-- Stores the results of attempts, unless later ones were stored or the deliveries were deleted. Returns
-- the version of each one's integration. An unfinished attempt doesn't count yet. The limit tells the
-- planner the number of items: it expects a hundred, and would read the whole outbox.
UPDATE outbox m
SET attempts = x.attempts - (x.result = 'unfinished')::integer,
    sent_at = CASE WHEN x.result = 'sent' THEN x.now END,
    given_up_at = CASE WHEN x.result = 'given up' THEN x.now END,
    due_at = x.due_at, last_error = x.error,
    payload = coalesce(x.payload, m.payload)
FROM (
    SELECT id, attempts, result, now, due_at, error, payload
    FROM jsonb_to_recordset(%(items)s::jsonb)
         AS item (id bigint, attempts integer, result text, now timestamptz, due_at timestamptz,
                  error text, payload jsonb)
    LIMIT %(count)s
) x
WHERE m.id = x.id AND m.attempts = x.attempts - 1 AND num_nulls(m.sent_at, m.given_up_at) = 2
RETURNING m.id, (SELECT i.xmin::text FROM integrations i WHERE i.id = m.subject_id) AS version;

-- name: release_deliveries
-- Those that were claimed until `due_at` and not sent.
UPDATE outbox SET due_at = 'epoch'
WHERE id = ANY(%(ids)s) AND due_at = %(due_at)s AND num_nulls(sent_at, given_up_at) = 2;

-- name: is_burst
-- Whether any process has recorded ten events within half a second.
SELECT coalesce((SELECT e.created_at > clock_timestamp() - interval '0.5 s'
                 FROM events e ORDER BY e.id DESC OFFSET 9 LIMIT 1), false);

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
