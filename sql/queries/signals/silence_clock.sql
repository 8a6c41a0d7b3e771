-- One row: the seconds for which the service was observed running. Written by the job `silence`.

-- name: lock_silence_clock
-- No row if another process has it, which then checks the endpoints.
SELECT seconds, ticked_at
FROM silence_clock
FOR UPDATE SKIP LOCKED;

-- name: insert_silence_clock
INSERT INTO silence_clock (seconds, ticked_at)
VALUES (0, %(now)s)
ON CONFLICT DO NOTHING;

-- name: update_silence_clock
UPDATE silence_clock
SET seconds = %(seconds)s, ticked_at = %(now)s;
