-- Trace archives: which run has which object.

-- name: archive_of
SELECT digest, bytes, object, stored_ns, author FROM archive WHERE run = $1;
-- name: archive_put
INSERT INTO archive (run, digest, bytes, object, stored_ns, author)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS TEXT)
WHERE EXISTS (SELECT 1 FROM run r WHERE r.uuid = $1) ON CONFLICT (run) DO NOTHING RETURNING bytes;
-- name: archive_remove
DELETE FROM archive WHERE run = $1 RETURNING bytes;
-- name: archive_remove_left
DELETE FROM archive WHERE run = $1 AND NOT EXISTS (SELECT 1 FROM run r WHERE r.uuid = $1) RETURNING bytes;
-- name: archive_left
SELECT a.run, a.object, a.bytes FROM archive a WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.uuid = a.run) ORDER BY a.run;
-- name: archive_has_object
SELECT 1 FROM archive WHERE object = $1;
-- name: archive_rows
SELECT run, digest, bytes, object, stored_ns, author FROM archive ORDER BY run;
-- name: archive_copy
INSERT INTO archive (run, digest, bytes, object, stored_ns, author) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING;
-- name: archive_owner
SELECT id FROM archive_owner;
-- name: archive_owner_put
INSERT INTO archive_owner (one, id) VALUES (1, $1) ON CONFLICT DO NOTHING;
