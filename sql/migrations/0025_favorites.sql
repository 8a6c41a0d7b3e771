-- Favorites of users, and of tokens and pseudo users, whose negative IDs have no row in `users`.

CREATE TABLE favorite_features (
    user_id    integer NOT NULL,
    feature    text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    account_id integer GENERATED ALWAYS AS (CASE WHEN user_id > 0 THEN user_id END) STORED
               REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (feature, user_id)
);

CREATE TABLE favorite_projects (
    user_id    integer NOT NULL,
    project    text NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    account_id integer GENERATED ALWAYS AS (CASE WHEN user_id > 0 THEN user_id END) STORED
               REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (project, user_id)
);

CREATE INDEX favorite_features_account_id_idx ON favorite_features (account_id);
CREATE INDEX favorite_projects_account_id_idx ON favorite_projects (account_id);
