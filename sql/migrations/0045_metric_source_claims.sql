-- The process that claimed a metric source sends its queries; others wait until then, by the clock of the database.
ALTER TABLE metric_sources ADD COLUMN claimed_until timestamptz;
