-- Favorites. Written by each user for themselves; deleted with the flag, the project and the user.

-- name: add_favorite_feature
INSERT INTO favorite_features (user_id, feature)
VALUES (%(user_id)s, %(feature)s)
ON CONFLICT (feature, user_id) DO NOTHING;

-- name: remove_favorite_feature
DELETE FROM favorite_features WHERE feature = %(feature)s AND user_id = %(user_id)s;

-- name: list_favorite_features
-- All of the user, or those among `names`.
SELECT feature FROM favorite_features
WHERE (%(names)s::text[] IS NULL OR feature = ANY(%(names)s)) AND user_id = %(user_id)s;

-- name: add_favorite_project
INSERT INTO favorite_projects (user_id, project)
VALUES (%(user_id)s, %(project)s)
ON CONFLICT (project, user_id) DO NOTHING;

-- name: remove_favorite_project
DELETE FROM favorite_projects WHERE project = %(project)s AND user_id = %(user_id)s;

-- name: list_favorite_projects
SELECT project FROM favorite_projects WHERE user_id = %(user_id)s;
