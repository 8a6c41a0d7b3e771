-- For SDKs that stream: a number of each change that fits their 32 bits, and a notification.

-- Grows with each change, over all topics, and follows the clock in seconds, so that a restored
-- database doesn't give the number of a lost change to another one.
ALTER TABLE revisions ADD COLUMN event_id bigint NOT NULL DEFAULT 0;
UPDATE revisions SET event_id = floor(extract(epoch FROM clock_timestamp()));

-- The topic '' is the first row of each change. Triggers, because the previous version of the service
-- may run beside this one.
CREATE FUNCTION set_revision_event_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.topic = '' THEN
        NEW.event_id := greatest(NEW.event_id + 1, floor(extract(epoch FROM clock_timestamp())));
    ELSE
        NEW.event_id := coalesce((SELECT event_id FROM revisions WHERE topic = ''), NEW.event_id);
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION notify_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('sigservice_revisions', '');
    RETURN NULL;
END
$$;

CREATE TRIGGER revisions_set_event_id BEFORE INSERT OR UPDATE ON revisions
FOR EACH ROW EXECUTE FUNCTION set_revision_event_id();

-- A process that misses a notification reads the revision a second later.
CREATE TRIGGER revisions_notify AFTER INSERT OR UPDATE ON revisions
FOR EACH STATEMENT EXECUTE FUNCTION notify_revisions();
