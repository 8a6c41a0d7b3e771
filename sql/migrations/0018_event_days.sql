-- For the filters of the audit log by day: without it a day is searched in the whole log.
--
-- A SHARE lock while it is built: reading goes on, changes wait. That is less than a second for each
-- million rows.

CREATE INDEX events_created_at_idx ON events USING brin (created_at);
