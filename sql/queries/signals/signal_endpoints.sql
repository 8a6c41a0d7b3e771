-- Signal endpoints. Written and deleted by admins; their tokens are deleted with them.

-- name: lock_signal_endpoints
-- Serializes creations, so that concurrent requests can't exceed the limit.
SELECT pg_advisory_xact_lock(hashtext('signal_endpoints'));

-- name: insert_signal_endpoint
-- Returns no row if the limit is reached. Call under lock_signal_endpoints.
INSERT INTO signal_endpoints (name, description, enabled, options, template, created_by_user_id,
                              version)
SELECT %(name)s, %(description)s, %(enabled)s, %(options)s::jsonb, %(template)s,
       %(created_by_user_id)s, floor(extract(epoch FROM clock_timestamp()) * 1000)
WHERE (SELECT count(*) FROM signal_endpoints) < %(limit)s
RETURNING id, name, description, enabled, options, template, created_at, created_by_user_id;

-- name: find_signal_endpoint
SELECT id, name, description, enabled, options, template, created_at, created_by_user_id
FROM signal_endpoints
WHERE id = %(id)s;

-- name: lock_signal_endpoint
-- Serializes changes of one endpoint and of its tokens; doesn't block signals.
SELECT id, name, description, enabled, options, template, created_at, created_by_user_id
FROM signal_endpoints
WHERE id = %(id)s
FOR NO KEY UPDATE;

-- name: lock_each_signal_endpoint
-- Waits for all changes of endpoints and tokens that have begun; doesn't block signals.
SELECT id
FROM signal_endpoints
ORDER BY id
FOR NO KEY UPDATE;

-- name: list_signal_endpoints
SELECT id, name, description, enabled, options, template, created_at, created_by_user_id
FROM signal_endpoints
ORDER BY id;

-- name: find_signal_endpoints_state
-- Changes with each change of an endpoint or of its tokens. Hashes and tokens are in it because the previous
-- version of the program, which may run meanwhile, changes no `version`.
SELECT (SELECT sum(hashtextextended(e::text, 0)) FROM signal_endpoints e) AS endpoints, count(*) AS tokens,
       sum(id) AS token_ids
FROM signal_endpoint_tokens;

-- name: list_signal_endpoint_settings
-- The settings that senders need; hashes are hexadecimal. `awaits_signals`: a signal may end the alert of a rule on
-- silence.
SELECT e.id, e.name, e.enabled, e.version, e.options,
       EXISTS (SELECT 1 FROM alert_rules r
               WHERE r.silent_endpoint_id = e.id AND r.enabled AND r.guard_id IS NULL) AS awaits_signals,
       coalesce((SELECT json_agg(json_build_object(
                     'id', t.id,
                     'secretHash', encode(t.secret_hash, 'hex'),
                     'previousSecretHash', encode(t.previous_secret_hash, 'hex'),
                     'signature', t.signature,
                     'encryptedSecret', encode(t.encrypted_secret, 'escape'),
                     'previousEncryptedSecret', encode(t.previous_encrypted_secret, 'escape'),
                     'previousExpiresAt', t.previous_expires_at,
                     'expiresAt', t.expires_at,
                     'allowedAddresses', t.allowed_addresses) ORDER BY t.id)
                 FROM signal_endpoint_tokens t WHERE t.signal_endpoint_id = e.id), '[]') AS tokens
FROM signal_endpoints e
ORDER BY e.id;

-- name: update_signal_endpoint
UPDATE signal_endpoints
SET name = %(name)s, description = %(description)s, enabled = %(enabled)s,
    options = %(options)s::jsonb, template = %(template)s
WHERE id = %(id)s
RETURNING id, name, description, enabled, options, template, created_at, created_by_user_id;

-- name: bump_signal_endpoint_version
-- Sets the version to the time in milliseconds, or adds one if that is larger, so that a version that is lost
-- with a restored backup doesn't come back with other content.
UPDATE signal_endpoints
SET version = greatest(version + 1, floor(extract(epoch FROM clock_timestamp()) * 1000))
WHERE id = %(id)s;

-- name: delete_signal_endpoint
DELETE FROM signal_endpoints WHERE id = %(id)s;
