-- Messages for people. Written with the run that they tell of; sent by a job; deleted with age.

-- name: insert_notifications
-- For a run that has ended: one for each channel of its set that wants to know.
INSERT INTO notifications (run_id, channel, message)
SELECT r.id, c.channel,
       jsonb_build_object('runId', r.id, 'state', r.state, 'reason', r.reason,
                          'actionSetId', r.action_set_id, 'project', r.project,
                          'cause', r.cause, 'dryRun', r.dry_run)
FROM action_runs r
JOIN action_sets s ON s.id = r.action_set_id
CROSS JOIN LATERAL jsonb_array_elements(s.settings -> 'notifications') AS c (channel)
WHERE r.id = ANY(%(run_ids)s) AND c.channel -> 'on' ? r.state;
