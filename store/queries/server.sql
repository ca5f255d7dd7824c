-- Queries of a server: access, limits, notes, cards, overviews, trends of functions, copies and webhooks.

-- name: token_add
INSERT INTO token (digest, project, scope, note, created_ns, expires_ns, revoked, used_ns) VALUES ($1, $2, $3, $4, $5, $6, 0, 0) RETURNING id;
-- name: token_find
SELECT id, project, scope, expires_ns, revoked, used_ns, note FROM token WHERE digest = $1;
-- name: token_list
SELECT id, project, scope, note, created_ns, expires_ns, revoked, used_ns, used_from FROM token ORDER BY id;
-- name: token_revoke
UPDATE token SET revoked = 1 WHERE id = $1 RETURNING id;
-- name: token_project
SELECT project FROM token WHERE id = $1;
-- name: token_count
SELECT count(*) FROM token;
-- name: token_used
UPDATE token SET used_ns = $2, used_from = $3 WHERE id = $1;

-- name: audit_add
INSERT INTO audit (at_ns, project, who, action, subject, detail) VALUES ($1, $2, $3, $4, $5, $6);
-- name: audit_list
SELECT id, at_ns, project, who, action, subject, detail FROM audit
WHERE id > $2 AND (CAST($1 AS TEXT) IS NULL OR project = $1) ORDER BY id LIMIT $3;

-- name: role_add
INSERT INTO role (kind, who, project, scope, created_ns) VALUES ($1, $2, $3, $4, $5) RETURNING id;
-- name: role_list
SELECT id, kind, who, project, scope, created_ns FROM role ORDER BY who, id;
-- name: role_remove
DELETE FROM role WHERE id = $1 RETURNING project;
-- name: role_of_name
SELECT project, scope FROM role WHERE kind = $1 AND who = $2;
-- name: limits_put
INSERT INTO project_limit (project, most_runs, most_bytes, keep_days, keep_newest) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (project) DO UPDATE SET most_runs = excluded.most_runs, most_bytes = excluded.most_bytes,
	keep_days = excluded.keep_days, keep_newest = excluded.keep_newest;
-- name: limits_remove
DELETE FROM project_limit WHERE project = $1;
-- name: limits_list
SELECT project, most_runs, most_bytes, keep_days, keep_newest FROM project_limit ORDER BY project;
-- name: limits_of
SELECT project, most_runs, most_bytes, keep_days, keep_newest FROM project_limit
WHERE project = $1 OR project = '' ORDER BY project DESC LIMIT 1;
-- name: usage_of
SELECT count(*), CAST(COALESCE(sum(r.bytes), 0) AS BIGINT)
FROM run r JOIN project p ON p.id = r.project WHERE p.name = $1;


-- name: annotation_add
INSERT INTO annotation (project, run, benchmark, metric, kind, value, author, created_ns) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id;
-- name: annotation_list
SELECT a.id, a.run, a.benchmark, a.metric, a.kind, a.value, a.author, a.created_ns FROM annotation a
JOIN project p ON p.id = a.project WHERE p.name = $1 AND (CAST($2 AS TEXT) IS NULL OR a.benchmark IS NULL OR a.benchmark = $2)
	AND (CAST($3 AS TEXT) IS NULL OR a.run = $3)
ORDER BY a.created_ns DESC, a.id DESC LIMIT 1000;
-- name: annotation_delete
DELETE FROM annotation WHERE id = $1 AND project IN (SELECT id FROM project WHERE name = $2) RETURNING id;

-- name: proof_card_put
INSERT INTO proof_card (project, fingerprint, at_ns, data) VALUES ($1, $2, $3, $4)
ON CONFLICT (project, fingerprint) DO UPDATE SET at_ns = excluded.at_ns, data = excluded.data;
-- name: proof_card_list
SELECT NULL, c.fingerprint, c.at_ns, c.data FROM proof_card c JOIN project p ON p.id = c.project
WHERE p.name = $1 ORDER BY c.at_ns DESC, c.fingerprint LIMIT 100;

-- name: proof_card_rows
SELECT p.name, c.fingerprint, c.at_ns, c.data FROM proof_card c JOIN project p ON p.id = c.project ORDER BY c.at_ns;

-- name: run_project
SELECT p.name, r.digest, r.complete FROM run r JOIN project p ON p.id = r.project WHERE r.uuid = $1;
-- name: overview
SELECT b.id, b.name, s.id, m.value, r.uuid, r.started_ns, r.commit_id, r.branch, r.dirty,
	(SELECT min(f.value) FROM run_fact x JOIN fact f ON f.id = x.fact WHERE x.run = r.id AND x.scope = 2 AND f.key = 'git.subject')
FROM benchmark b JOIN project p ON p.id = b.project JOIN series s ON s.id = (SELECT y.id FROM series y WHERE y.benchmark = b.id
	ORDER BY y.started_ns DESC, y.id DESC LIMIT 1)
JOIN words m ON m.id = s.metrics JOIN run r ON r.id = s.run WHERE p.name = $1 ORDER BY b.name;
-- name: release
SELECT r.uuid, r.tag FROM run r JOIN project p ON p.id = r.project
WHERE p.name = $1 AND r.tag IS NOT NULL AND r.complete = 1 AND r.started_ns < $2 ORDER BY r.started_ns DESC, r.uuid DESC LIMIT 1;

-- name: runs_of_benchmark
SELECT s.id, s.started_ns, r.uuid, r.commit_id FROM series s JOIN run r ON r.id = s.run
WHERE s.benchmark = $1 AND (CAST($2 AS TEXT) IS NULL OR r.branch = $2) AND s.started_ns < $4
ORDER BY s.started_ns DESC, s.id DESC LIMIT $3;
-- name: fact_keys
SELECT DISTINCT f.key FROM fact f
WHERE CAST($1 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM run_fact x JOIN run r ON r.id = x.run JOIN project p ON p.id = r.project
		WHERE x.fact = f.id AND p.name = $1)
ORDER BY f.key;

-- name: token_rows
SELECT digest, project, scope, note, created_ns, expires_ns, revoked, used_ns FROM token ORDER BY id;
-- name: token_put
INSERT INTO token (digest, project, scope, note, created_ns, expires_ns, revoked, used_ns) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (digest) DO UPDATE SET revoked = excluded.revoked;
-- name: role_rows
SELECT kind, who, project, scope, created_ns FROM role ORDER BY id;
-- name: role_put
INSERT INTO role (kind, who, project, scope, created_ns)
SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM role r WHERE r.kind = $1 AND r.who = $2 AND r.created_ns = $5 AND r.scope = $4);
-- name: audit_rows
SELECT at_ns, project, who, action, subject, detail FROM audit ORDER BY id;
-- name: audit_put
INSERT INTO audit (at_ns, project, who, action, subject, detail)
SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT)
WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.at_ns = $1 AND a.who = $3 AND a.action = $4);
-- name: annotation_rows
SELECT p.name, a.run, a.benchmark, a.metric, a.kind, a.value, a.author, a.created_ns FROM annotation a JOIN project p ON p.id = a.project ORDER BY a.id;
-- name: annotation_put
INSERT INTO annotation (project, run, benchmark, metric, kind, value, author, created_ns)
SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT), CAST($8 AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM annotation a WHERE a.project = $1 AND a.created_ns = $8 AND a.value = $6);

-- name: webhook_put
INSERT INTO webhook (project, url, template) VALUES ($1, $2, $3)
ON CONFLICT (project) DO UPDATE SET url = excluded.url, template = excluded.template, problem = NULL;
-- name: webhook_get
SELECT w.url, w.template, w.problem, (SELECT count(*) FROM webhook_call c WHERE c.project = w.project)
FROM webhook w WHERE w.project = $1;
-- name: webhook_rows
SELECT project, url, template FROM webhook ORDER BY project;
-- name: webhook_remove
DELETE FROM webhook WHERE project = $1;
-- name: webhook_calls_remove
DELETE FROM webhook_call WHERE project = $1;
-- name: webhook_call_add
INSERT INTO webhook_call (project, run, attempts, due_ns) SELECT w.project, CAST($2 AS TEXT), 0, CAST($3 AS BIGINT)
FROM webhook w WHERE w.project = $1 AND (SELECT count(*) FROM webhook_call c WHERE c.project = $1) < 1000;
-- name: webhook_call_claim
UPDATE webhook_call SET attempts = attempts + 1, due_ns = $1 + (CAST($2 AS BIGINT) << CAST(attempts AS INTEGER))
WHERE due_ns <= $1 AND id = (SELECT c.id FROM webhook_call c WHERE c.due_ns <= $1
AND NOT EXISTS (SELECT 1 FROM webhook_call o WHERE o.project = c.project AND o.id < c.id) ORDER BY c.due_ns, c.id LIMIT 1)
RETURNING id, attempts, project, run;
-- name: webhook_call_done
DELETE FROM webhook_call WHERE id = $1;
-- name: webhook_called
UPDATE webhook SET problem = $2 WHERE project = $1;
