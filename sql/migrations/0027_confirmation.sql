-- Whether the pages ask before they switch a flag of the project in an environment of the type
-- production. The previous version of the service ignores it.

ALTER TABLE projects
    ADD COLUMN confirms_production boolean NOT NULL DEFAULT true;
