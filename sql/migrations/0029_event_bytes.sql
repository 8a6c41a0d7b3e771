-- The bytes of an event's data as text, which bound a page of the audit log. Null in events of earlier
-- versions: a page computes theirs.
ALTER TABLE events ADD COLUMN data_bytes integer;
