-- Only for PostgreSQL.

-- The lag of a replica in milliseconds; 0 if it has caught up, or on the primary.
-- name: replica_lag
SELECT CAST(CASE WHEN NOT pg_is_in_recovery() THEN 0
	WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT 1 FROM pg_stat_wal_receiver) THEN 0
	ELSE COALESCE(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000, 0) END AS BIGINT);
