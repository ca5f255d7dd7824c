-- Runs and the rows that belong to them.

-- name: schema_version
SELECT version FROM schema_version;
-- name: project_find
SELECT id FROM project WHERE name = $1;
-- name: project_add
INSERT INTO project (name) VALUES ($1) RETURNING id;
-- name: project_list
SELECT name FROM project ORDER BY name;
-- name: benchmark_find
SELECT id FROM benchmark WHERE project = $1 AND name = $2;
-- name: benchmark_add
INSERT INTO benchmark (project, name) VALUES ($1, $2) RETURNING id;
-- name: benchmark_list
SELECT b.name FROM benchmark b JOIN project p ON p.id = b.project
WHERE CAST($1 AS TEXT) IS NULL OR p.name = $1 ORDER BY b.name;
-- name: words_find
SELECT id FROM words WHERE digest = $1;
-- name: words_add
INSERT INTO words (digest, value) VALUES ($1, $2) RETURNING id;
-- name: fact_find
SELECT id FROM fact WHERE digest = $1;
-- name: fact_add
INSERT INTO fact (id, digest, key, value, identity) VALUES ($1, $2, $3, $4, $5);
-- name: fact_last
SELECT COALESCE(max(id), 0) FROM fact;

-- name: run_put
INSERT INTO run (uuid, project, started_ns, ended_ns, complete, has_baseline, seed, tool_version, outcome, fingerprint,
	commit_id, branch, described, dirty, base_commit, base_branch, base_described, base_dirty, tag, digest)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
ON CONFLICT (uuid) DO UPDATE SET project = excluded.project, started_ns = excluded.started_ns,
	ended_ns = excluded.ended_ns, complete = excluded.complete, has_baseline = excluded.has_baseline,
	seed = excluded.seed, tool_version = excluded.tool_version, outcome = excluded.outcome,
	fingerprint = excluded.fingerprint, commit_id = excluded.commit_id, branch = excluded.branch,
	described = excluded.described, dirty = excluded.dirty, base_commit = excluded.base_commit,
	base_branch = excluded.base_branch, base_described = excluded.base_described,
	base_dirty = excluded.base_dirty, tag = excluded.tag, digest = excluded.digest
RETURNING id;
-- name: run_by_uuid
SELECT id, outcome, digest, project FROM run WHERE uuid = $1;
-- name: run_weigh
UPDATE run SET bytes = $2 WHERE id = $1;
-- name: run_touch
UPDATE run SET ended_ns = $2 WHERE id = $1;
-- name: run_delete
DELETE FROM run WHERE uuid = $1 RETURNING id;
-- name: run_load
SELECT r.id, p.name, r.started_ns, r.ended_ns, r.complete, r.has_baseline, r.seed, r.tool_version, r.outcome,
	r.commit_id, r.branch, r.described, r.dirty, r.base_commit, r.base_branch, r.base_described, r.base_dirty
FROM run r JOIN project p ON p.id = r.project WHERE r.uuid = $1;
-- name: run_facts_clear
DELETE FROM run_fact WHERE run = $1;
-- name: run_fact_add
INSERT INTO run_fact (run, scope, fact) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
-- name: run_fact_find
SELECT f.value FROM run r JOIN run_fact x ON x.run = r.id AND x.scope = 2 JOIN fact f ON f.id = x.fact WHERE r.uuid = $1 AND f.key = $2;
-- name: run_facts
SELECT x.scope, f.key, f.value, f.identity FROM run_fact x JOIN fact f ON f.id = x.fact WHERE x.run = $1 ORDER BY 1, 2, 3;

-- name: series_clear
DELETE FROM series WHERE run = $1;
-- name: series_add
INSERT INTO series (run, position, benchmark, started_ns, command, metrics, details) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id;
-- name: series_update
UPDATE series SET metrics = $2, details = $3 WHERE id = $1;
-- name: series_of_run
SELECT s.id, b.name, c.value, m.value, s.details FROM series s JOIN benchmark b ON b.id = s.benchmark
JOIN words m ON m.id = s.metrics LEFT JOIN words c ON c.id = s.command WHERE s.run = $1 ORDER BY s.position;
-- name: chunk_add
INSERT INTO chunk (series, kind, first, data) VALUES ($1, $2, $3, $4);
-- name: chunk_put
INSERT INTO chunk (series, kind, first, data) VALUES ($1, $2, $3, $4)
ON CONFLICT (series, kind, first) DO UPDATE SET data = excluded.data;
-- name: chunks_forget
DELETE FROM chunk WHERE series = $1;
-- name: chunks
SELECT first, data FROM chunk WHERE series = $1 AND kind = $2 ORDER BY first;
-- name: chunks_all
SELECT series, kind, data FROM chunk ORDER BY series, kind, first;
-- name: level_add
INSERT INTO level (benchmark, metric, started_ns, run, pairs, baseline, candidate, ratio, low, high, step, step_error, outcome)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);
-- name: levels_clear
DELETE FROM level WHERE run = $1;

-- name: proof_add
INSERT INTO proof (project, card, fingerprint, at_ns, data) VALUES ($1, $2, $3, $4, $5) RETURNING id;
-- name: proof_list
SELECT x.card, x.fingerprint, x.at_ns, x.data FROM proof x JOIN project p ON p.id = x.project
WHERE p.name = $1 AND x.fingerprint = $2 AND x.card = (SELECT y.card FROM proof y
	WHERE y.project = x.project AND y.fingerprint = $2 ORDER BY y.id DESC LIMIT 1)
ORDER BY x.id LIMIT 100000;

-- name: report_clear
DELETE FROM report WHERE run = $1;
-- name: report_add
INSERT INTO report (run, format, data) VALUES ($1, $2, $3);
-- name: report_get
SELECT data FROM report WHERE run = $1 AND format = $2;
