-- Types of flags. Migrations insert the rows.

-- name: list_feature_types
SELECT id, name, description, lifetime_days FROM feature_types ORDER BY lifetime_days DESC NULLS LAST, id;

-- name: set_feature_type_lifetime
UPDATE feature_types SET lifetime_days = %(days)s WHERE id = %(id)s;
