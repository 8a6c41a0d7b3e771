-- A person decided that a flag stays off: no alert reverts this hold, and turning the flag on deletes it.
ALTER TABLE holds
    ADD COLUMN kept_by text,
    ADD COLUMN kept_by_id integer,
    ADD COLUMN kept_at timestamptz;
