-- For PostgreSQL alone.

-- How many milliseconds a replica is behind; 0 where there is nothing to catch up with, or on the database that is written.
-- name: replica_lag
SELECT CAST(CASE WHEN NOT pg_is_in_recovery() THEN 0
	WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT 1 FROM pg_stat_wal_receiver) THEN 0
	ELSE COALESCE(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000, 0) END AS BIGINT);

-- The newest levels of each benchmark of a project, row by row: a planner that does not know how few there are of a
-- project would read all runs.
-- name: overview_levels
SELECT b.id, r.uuid, r.started_ns, r.commit_id, r.branch, r.fingerprint, r.dirty, r.complete, l.pairs, l.baseline, l.candidate,
	l.ratio, l.low, l.high, l.outcome, r.tag, r.id, r.project
FROM benchmark b JOIN project p ON p.id = b.project
CROSS JOIN LATERAL (SELECT x.* FROM level x WHERE x.benchmark = b.id AND x.metric = $2 ORDER BY x.series DESC LIMIT $3) l
CROSS JOIN LATERAL (SELECT x.run FROM series x WHERE x.id = l.series OFFSET 0) s
CROSS JOIN LATERAL (SELECT x.* FROM run x WHERE x.id = s.run OFFSET 0) r
WHERE p.name = $1 ORDER BY b.id, l.series DESC;

-- As tail_chunks, series by series: a planner that joins them with a hash would read the newest values of all projects.
-- name: tail_chunks_each
SELECT c.series, c.data, c.kind FROM series s CROSS JOIN LATERAL (SELECT x.series, x.data, x.kind FROM chunk x
	WHERE x.series = s.id AND x.kind IN (4, 6) OFFSET 0) c
WHERE s.benchmark = $1 AND s.id > $2 ORDER BY s.id;

-- The last id that was given away: a sequence goes on from there.
-- name: sequence_last
SELECT COALESCE(pg_sequence_last_value(CAST(pg_get_serial_sequence($1, 'id') AS regclass)), 0);
-- name: sequence_set
SELECT setval(CAST(pg_get_serial_sequence($1, 'id') AS regclass), $2);

-- name: partition_newest
SELECT max(month) FROM run_partition;
-- name: partition_last
SELECT max(number) FROM run_partition;
-- name: partition_first_bytes
SELECT pg_relation_size('chunk_0') + pg_relation_size('report_0') + pg_relation_size('tile_0');
-- Projects whose runs leave after about as long share partitions: within a month, a quarter, a year; all others.
-- name: partition_classify
UPDATE project SET class = CASE WHEN l.keep_days <= 31 THEN 1 WHEN l.keep_days <= 92 THEN 2 WHEN l.keep_days <= 366 THEN 3 ELSE 0 END
FROM project p LEFT JOIN project_limit l ON l.project = p.name AND l.keep_days > 0 WHERE p.id = project.id;
-- name: partition_classes
SELECT class FROM project UNION SELECT 0 ORDER BY 1;
-- All into which nothing is stored any more, with the runs that are in them.
-- name: partition_list
SELECT x.number, x.leftovers, (SELECT count(*) FROM run r WHERE r.id >= x.number << 40 AND r.id < (x.number + 1) << 40)
FROM run_partition x WHERE x.number NOT IN (SELECT max(y.number) FROM run_partition y GROUP BY y.class) ORDER BY x.number;
-- name: partition_mark
UPDATE run_partition SET leftovers = 1 WHERE number = $1;
-- name: partition_seals_drop
DELETE FROM seal WHERE number >= $1 AND number < $2 AND NOT EXISTS (SELECT 1 FROM series s WHERE s.benchmark = seal.benchmark
	AND s.id <= seal.last_series AND s.id > COALESCE((SELECT max(y.last_series) FROM seal y
		WHERE y.benchmark = seal.benchmark AND y.last_series < seal.last_series), 0));
-- name: partition_alive
SELECT CAST(EXISTS (SELECT 1 FROM run r WHERE r.id >= $1 AND r.id < $2) OR EXISTS (SELECT 1 FROM series s WHERE s.id >= $1 AND s.id < $2)
	OR EXISTS (SELECT 1 FROM seal x WHERE x.number >= $1 AND x.number < $2) AS INTEGER);
-- name: partition_horizon
SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT);
-- Sessions whose view of the database may be older than that.
-- name: partition_readers
SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type IN ('client backend', 'walsender')
	AND age(backend_xmin) > age(CAST(CAST($1 % CAST(4294967296 AS BIGINT) AS TEXT) AS XID));
