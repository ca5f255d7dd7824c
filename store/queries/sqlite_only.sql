-- Only for SQLite.

-- name: quick_check
PRAGMA quick_check;
-- name: vacuum_into
VACUUM INTO $1;
