-- Lists of runs, histories and garbage collection.

-- name: run_list
SELECT r.uuid, p.name, r.started_ns, r.ended_ns, r.complete, r.has_baseline, r.dirty, r.outcome, r.commit_id, r.branch,
	r.tag, r.base_commit, r.fingerprint, (SELECT count(*) FROM series s WHERE s.run = r.id),
	(SELECT min(f.value) FROM run_fact x JOIN fact f ON f.id = x.fact WHERE x.run = r.id AND x.scope = 2 AND f.key = 'git.subject')
FROM run r JOIN project p ON p.id = r.project
WHERE (CAST($1 AS TEXT) IS NULL OR r.project = (SELECT x.id FROM project x WHERE x.name = $1))
	AND (CAST($2 AS TEXT) IS NULL OR r.branch = $2)
	AND (CAST($3 AS TEXT) IS NULL OR (r.commit_id >= $3 AND r.commit_id < $3 || 'g'))
	AND (CAST($4 AS TEXT) IS NULL OR r.tag = $4)
	AND (CAST($5 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM series s JOIN benchmark b ON b.id = s.benchmark
		WHERE s.run = r.id AND b.name = $5))
	AND (CAST($6 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM run_fact x JOIN fact f ON f.id = x.fact
			WHERE x.run = r.id AND f.key = $6 AND (CAST($7 AS TEXT) IS NULL OR f.value = $7)))
	AND (CAST($8 AS TEXT) IS NULL OR r.outcome = $8)
	AND r.complete >= $9
	AND (r.started_ns < $10 OR (r.started_ns = $10 AND r.uuid < $11))
	AND (CAST($13 AS TEXT) IS NULL OR r.id IN (SELECT x.run FROM fact f JOIN run_fact x ON x.fact = f.id
		WHERE f.key = 'git.subject' AND x.scope = 2 AND replace(lower(f.value), lower($13), '') <> lower(f.value)))
ORDER BY r.started_ns DESC, r.uuid DESC LIMIT $12;
-- name: run_one
SELECT r.uuid, p.name, r.started_ns, r.ended_ns, r.complete, r.has_baseline, r.dirty, r.outcome, r.commit_id, r.branch,
	r.tag, r.base_commit, r.fingerprint, (SELECT count(*) FROM series s WHERE s.run = r.id),
	(SELECT min(f.value) FROM run_fact x JOIN fact f ON f.id = x.fact WHERE x.run = r.id AND x.scope = 2 AND f.key = 'git.subject')
FROM run r JOIN project p ON p.id = r.project WHERE r.uuid = $1;
-- name: run_next
SELECT r.uuid, p.name, r.started_ns, r.ended_ns, r.complete, r.has_baseline, r.dirty, r.outcome, r.commit_id, r.branch,
	r.tag, r.base_commit, r.fingerprint, (SELECT count(*) FROM series s WHERE s.run = r.id),
	(SELECT min(f.value) FROM run_fact x JOIN fact f ON f.id = x.fact WHERE x.run = r.id AND x.scope = 2 AND f.key = 'git.subject')
FROM run r JOIN project p ON p.id = r.project
WHERE p.name = $1 AND (CAST($2 AS TEXT) IS NULL OR r.branch = $2) AND (r.started_ns > $3 OR (r.started_ns = $3 AND r.uuid > $4))
ORDER BY r.started_ns, r.uuid LIMIT 1;
-- name: run_latest
SELECT r.uuid FROM run r JOIN project p ON p.id = r.project
WHERE (CAST($1 AS TEXT) IS NULL OR p.name = $1) AND r.complete = 1 ORDER BY r.started_ns DESC, r.uuid DESC LIMIT 1 OFFSET $2;
-- name: run_latest_incomplete
SELECT r.uuid FROM run r JOIN project p ON p.id = r.project
WHERE (CAST($1 AS TEXT) IS NULL OR p.name = $1) AND r.complete = 0 ORDER BY r.started_ns DESC, r.uuid DESC LIMIT 1;
-- name: run_by_prefix
SELECT r.uuid FROM run r JOIN project p ON p.id = r.project
WHERE (CAST($1 AS TEXT) IS NULL OR p.name = $1) AND r.uuid >= $2 AND r.uuid < $2 || 'g' ORDER BY r.uuid LIMIT 4;
-- name: run_by_tag
SELECT r.uuid FROM run r JOIN project p ON p.id = r.project
WHERE (CAST($1 AS TEXT) IS NULL OR p.name = $1) AND r.tag = $2 AND r.complete = 1 ORDER BY r.started_ns DESC, r.uuid DESC LIMIT 1;
-- name: run_by_branch
SELECT r.uuid FROM run r JOIN project p ON p.id = r.project
WHERE (CAST($1 AS TEXT) IS NULL OR p.name = $1) AND r.branch = $2 AND r.complete = 1 ORDER BY r.started_ns DESC, r.uuid DESC LIMIT 1;
-- name: run_by_commit
SELECT r.uuid FROM run r JOIN project p ON p.id = r.project
WHERE (CAST($1 AS TEXT) IS NULL OR p.name = $1) AND r.commit_id >= $2 AND r.commit_id < $2 || 'g' AND r.complete = 1
ORDER BY r.started_ns DESC, r.uuid DESC LIMIT 1;

-- name: history
SELECT r.uuid, l.started_ns, r.commit_id, r.branch, r.fingerprint, r.dirty, r.complete, l.pairs, l.baseline, l.candidate,
	l.ratio, l.low, l.high, l.outcome, r.tag, r.base_commit
FROM level l JOIN run r ON r.id = l.run
WHERE l.benchmark = $1 AND l.metric = (SELECT w.id FROM words w WHERE w.digest = $2)
	AND (CAST($3 AS TEXT) IS NULL OR r.branch = $3)
ORDER BY l.started_ns DESC, l.run DESC LIMIT $4;
-- name: chain
SELECT r.uuid, r.base_commit, r.commit_id, r.tag, s.id, l.pairs, l.step, l.step_error, l.outcome,
	CASE WHEN l.run IS NULL THEN s.details END
FROM series s JOIN run r ON r.id = s.run
LEFT JOIN level l ON l.benchmark = s.benchmark AND l.started_ns = s.started_ns AND l.run = s.run
	AND l.metric = (SELECT w.id FROM words w WHERE w.digest = $2)
WHERE s.benchmark = $1 AND r.has_baseline = 1 AND r.complete = 1 AND r.dirty = 0 AND r.base_dirty = 0
	AND r.base_commit IS NOT NULL AND r.commit_id IS NOT NULL AND r.base_commit <> r.commit_id
ORDER BY s.started_ns DESC, s.id DESC LIMIT $3;
-- name: series_details
SELECT details FROM series WHERE id = $1;
-- name: benchmark_of
SELECT b.id FROM benchmark b JOIN project p ON p.id = b.project
WHERE (CAST($1 AS TEXT) IS NULL OR p.name = $1) AND b.name = $2 ORDER BY p.name LIMIT 1;
-- name: metric_names
SELECT DISTINCT w.value FROM level l JOIN words w ON w.id = l.metric WHERE l.benchmark = $1 ORDER BY w.value;
-- name: newest_metrics
SELECT w.value FROM series s JOIN words w ON w.id = s.metrics WHERE s.benchmark = $1
ORDER BY s.started_ns DESC, s.id DESC LIMIT 1;

-- name: gc_candidates
SELECT r.uuid, r.project, r.branch, r.started_ns, CASE WHEN r.tag IS NULL THEN 0 ELSE 1 END,
	COALESCE(own.keep_days, other.keep_days, 0), COALESCE(own.keep_newest, other.keep_newest, 0)
FROM run r JOIN project p ON p.id = r.project LEFT JOIN project_limit own ON own.project = p.name
LEFT JOIN project_limit other ON other.project = ''
WHERE CAST($1 AS TEXT) IS NULL OR p.name = $1
ORDER BY r.project, r.branch, r.started_ns DESC, r.uuid DESC;
-- name: gc_words
DELETE FROM words WHERE NOT EXISTS (SELECT 1 FROM series s WHERE s.metrics = words.id)
	AND NOT EXISTS (SELECT 1 FROM series s WHERE s.command = words.id)
	AND NOT EXISTS (SELECT 1 FROM level l WHERE l.metric = words.id);
-- name: gc_facts
DELETE FROM fact WHERE NOT EXISTS (SELECT 1 FROM run_fact x WHERE x.fact = fact.id);
-- name: gc_benchmarks
DELETE FROM benchmark WHERE NOT EXISTS (SELECT 1 FROM series s WHERE s.benchmark = benchmark.id);
