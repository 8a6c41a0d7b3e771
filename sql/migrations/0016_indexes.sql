-- Indexes for the audit log's filters by environment and by author, for the segments of a project,
-- and for the action sets of a signal endpoint, disabled ones included.
--
-- Each is built under a SHARE lock: reading goes on, changes wait. On events that is about a second
-- for each million rows; the other tables are small.

CREATE INDEX events_environment_id_idx ON events (environment, id DESC);
CREATE INDEX events_created_by_id_idx ON events (created_by, id DESC);
CREATE INDEX events_created_by_user_id_idx ON events (created_by_user_id, id DESC);

CREATE INDEX segments_project_idx ON segments (project);

-- The one of 0011 holds enabled sets only; this one serves both.
CREATE INDEX action_sets_source_idx ON action_sets (source_id);
DROP INDEX action_sets_source_id_idx;
