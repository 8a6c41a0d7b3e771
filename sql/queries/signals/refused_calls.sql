-- Calls of signal endpoints that stored no signal, counted by caller and reason. Written by a job;
-- deleted by it and with their endpoint.

-- name: lock_refused_calls
-- One process writes at a time, so that each caller and reason has one row.
SELECT pg_advisory_xact_lock(hashtext('refused_calls'));

-- name: add_refused_calls
-- Counts calls of a known caller and reason in their row. Call under lock_refused_calls.
WITH new AS MATERIALIZED (
    SELECT n.position, e.id AS endpoint_id, n.endpoint_name, n.status, n.reason, n.secret_prefix,
           n.address, n.user_agent, n.calls, n.first_at, n.last_at
    FROM json_to_recordset(%(calls)s)
         AS n (position integer, endpoint_name text, status integer, reason text,
               secret_prefix text, address text, user_agent text, calls bigint,
               first_at timestamptz, last_at timestamptz)
    LEFT JOIN signal_endpoints e ON e.name = n.endpoint_name
), counted AS (
    UPDATE refused_calls r
    SET calls = r.calls + new.calls, last_at = greatest(r.last_at, new.last_at),
        user_agent = new.user_agent
    FROM new
    WHERE r.endpoint_name = new.endpoint_name
      AND r.endpoint_id IS NOT DISTINCT FROM new.endpoint_id
      AND r.status = new.status
      AND r.reason = new.reason
      AND r.secret_prefix = new.secret_prefix
      AND r.address = new.address
    RETURNING new.position
)
INSERT INTO refused_calls (endpoint_id, endpoint_name, status, reason, secret_prefix, address,
                           user_agent, calls, first_at, last_at)
SELECT endpoint_id, endpoint_name, status, reason, secret_prefix, address, user_agent, calls,
       first_at, last_at
FROM new
WHERE NOT EXISTS (SELECT 1 FROM counted WHERE counted.position = new.position)
ORDER BY position;

-- name: delete_surplus_refused_calls
-- Keeps the newest rows of each endpoint, and of all unknown names together. Rows of an address beyond
-- `keep_of_address` go first, so that one caller can't displace the others.
DELETE FROM refused_calls
WHERE id IN (
    SELECT id
    FROM (SELECT id, last_at,
                 row_number() OVER (PARTITION BY endpoint_id
                                    ORDER BY n_of_address > %(keep_of_address)s, last_at DESC,
                                             id DESC) AS n
          FROM (SELECT id, endpoint_id, last_at,
                       row_number() OVER (PARTITION BY endpoint_id, address
                                          ORDER BY last_at DESC, id DESC) AS n_of_address
                FROM refused_calls) rows_of_addresses) numbered
    WHERE n > %(keep)s OR last_at < now() - make_interval(days => %(days)s)
);

-- name: list_refused_calls
-- The refused calls of one endpoint or, if the parameter is NULL, of names that no endpoint has.
SELECT id, endpoint_id, endpoint_name, status, reason, secret_prefix, address, user_agent, calls,
       first_at, last_at
FROM refused_calls
WHERE endpoint_id IS NOT DISTINCT FROM %(endpoint_id)s
ORDER BY last_at DESC, id DESC;

-- name: count_refused_calls
-- Of one endpoint or, if the parameter is NULL, of each.
SELECT endpoint_id, sum(calls) AS calls, max(last_at) AS last_at
FROM refused_calls
WHERE endpoint_id IS NOT NULL
  AND (%(endpoint_id)s::int IS NULL OR endpoint_id = %(endpoint_id)s)
GROUP BY endpoint_id;
