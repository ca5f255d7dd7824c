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
SELECT c.series, c.data FROM series s CROSS JOIN LATERAL (SELECT x.series, x.data FROM chunk x
	WHERE x.series = s.id AND x.kind = 6 OFFSET 0) c
WHERE s.benchmark = $1 AND s.id > $2 ORDER BY s.id;
