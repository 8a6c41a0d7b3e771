-- What the jobs have to do, in one statement: an idle process executes no other. Each job decides again itself.

-- part: now
-- The time of the database, except in tests.
coalesce(%(now)s::timestamptz, now())

-- name: find_due_work, planned once
-- A row with a column for each kind of work. Reads the first row of an index, because EXISTS reads the whole table
-- when the planner expects an early match.
SELECT EXISTS (SELECT 1 FROM signal_queue)
       OR (SELECT min(id) FROM action_runs WHERE state = 'started') IS NOT NULL
       OR coalesce((SELECT min(revert_due_at) FROM action_runs) <= {{now}}, false)
       OR coalesce((SELECT min(due_at) FROM action_sets WHERE endpoint_id = 0 AND enabled) <= {{now}}, false) AS actions,
       coalesce((SELECT min(due_at) FROM outbox
                 WHERE kind <> 'integration' AND sent_at IS NULL AND given_up_at IS NULL) <= {{now}}, false) AS mails,
       EXISTS (
           SELECT 1
           FROM integrations i
           CROSS JOIN LATERAL (
               SELECT o.id FROM outbox o
               WHERE o.kind = 'integration' AND o.subject_id = i.id AND o.sent_at IS NULL AND o.given_up_at IS NULL
               ORDER BY o.id
               LIMIT 1
           ) oldest
           JOIN outbox o ON o.id = oldest.id AND o.due_at <= {{now}}
           WHERE i.enabled
       ) AS deliveries,
       EXISTS (SELECT 1 FROM releases WHERE state IN ('scheduled', 'running', 'held'))
       OR EXISTS (SELECT 1 FROM settings
                  WHERE key = 'emergency' AND (value -> 'frozen' <> 'null' OR value -> 'paused' <> 'null')) AS releases,
       (SELECT min(due_at) FROM alert_rules WHERE enabled) IS NOT NULL AS rules;
