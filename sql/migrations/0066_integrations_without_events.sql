-- An integration that was only chosen by its name has no events: it says so instead of waiting for them.

UPDATE integrations
SET enabled = false, disabled_reason = 'It has no events: choose those that it shall get.'
WHERE events = '{}' AND enabled;
