-- Pages that are the result of a form and are shown once, such as that of a new token, from the redirect after
-- the form until the browser reads them. `id` and the key that encrypts `page` are derived from the cookie of the
-- session, so the database can't tell what a page shows.

CREATE TABLE once_pages (
    id         text PRIMARY KEY,
    page       bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
