-- Pages that are shown once, after the redirect of a form. The retention job deletes those that nobody has read.

-- name: insert_once_page
INSERT INTO once_pages (id, page) VALUES (%(id)s, %(page)s);

-- name: take_once_page
DELETE FROM once_pages WHERE id = %(id)s AND created_at > now() - interval '10 minutes'
RETURNING page;

-- name: delete_unread_once_pages
DELETE FROM once_pages
WHERE id = ANY(ARRAY(
    SELECT id FROM once_pages WHERE created_at < now() - interval '10 minutes' LIMIT %(chunk)s
));
