-- For SQLite alone.

-- name: quick_check
PRAGMA quick_check;
-- name: vacuum_into
VACUUM INTO $1;
