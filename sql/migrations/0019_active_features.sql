-- For the numbers of flags of each project, which otherwise read all flags.
--
-- It is built under a SHARE lock: reading goes on, changes wait. The table is small.

CREATE INDEX features_active_idx ON features (project, stale) WHERE archived_at IS NULL;
