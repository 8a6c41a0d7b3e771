-- The audit log. Rows are written in the transaction of the change and never updated, except by
-- the created-by job; they are kept for ever.

CREATE TABLE events (
    id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at         timestamptz NOT NULL DEFAULT now(),
    type               text NOT NULL,
    created_by         text NOT NULL,
    created_by_user_id integer,
    ip                 text,
    project            text,
    environment        text,
    feature_name       text,
    data               jsonb,
    pre_data           jsonb
);

CREATE INDEX events_type_id_idx ON events (type, id DESC);
CREATE INDEX events_no_user_idx ON events (id DESC) WHERE created_by_user_id IS NULL;
