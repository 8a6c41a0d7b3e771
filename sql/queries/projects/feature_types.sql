-- Types of flags. Migrations insert the rows.

-- name: list_feature_types
SELECT id, name, description, lifetime_days FROM feature_types ORDER BY lifetime_days DESC NULLS LAST, id;
