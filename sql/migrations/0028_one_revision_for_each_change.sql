-- One number for each change, over all topics, so that the revision of an environment is the largest
-- of its topics. The sum of two, which it was, could come twice after a restored backup.

-- In the trigger, because the previous version of the service may run beside this one.
CREATE OR REPLACE FUNCTION set_revision_event_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.topic = '' THEN
        NEW.event_id := greatest(NEW.event_id + 1, floor(extract(epoch FROM clock_timestamp())));
    ELSE
        SELECT id, event_id INTO NEW.id, NEW.event_id FROM revisions WHERE topic = '';
    END IF;
    RETURN NEW;
END
$$;

-- A change that lasted into the next millisecond gave its other topics a larger number than ''.
UPDATE revisions SET id = (SELECT max(id) FROM revisions) + 1 WHERE topic = '';
