DROP TABLE release_templates;
