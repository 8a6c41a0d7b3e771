-- Kinds of flags; the rows come with the migrations.

-- name: list_feature_types
SELECT id, name, description, lifetime_days FROM feature_types ORDER BY lifetime_days DESC NULLS LAST, id;
