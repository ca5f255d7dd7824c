-- Alert rules, what they say, and what becomes of it.

-- name: alert_rule_add
INSERT INTO alert_rule (project, events, benchmark, metric, silence_ns, target, secret, author, created_ns)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id;
-- name: alert_rule_count
SELECT count(*) FROM alert_rule WHERE project = $1;
-- name: alert_rule_list
SELECT id, project, events, benchmark, metric, silence_ns, target, author, created_ns, secret FROM alert_rule ORDER BY id;
-- name: alert_rule_of
SELECT id, project, events, benchmark, metric, silence_ns, target, author, created_ns, secret FROM alert_rule
WHERE project = $1 ORDER BY id;
-- name: alert_rule_project
SELECT project FROM alert_rule WHERE id = $1;
-- name: alert_rule_change
UPDATE alert_rule SET events = $2, benchmark = $3, metric = $4, silence_ns = $5, target = $6, secret = $7
WHERE id = $1 RETURNING id;
-- name: alert_rule_remove
DELETE FROM alert_rule WHERE id = $1;
-- name: alert_rule_remove_alerts
DELETE FROM alert WHERE rule = $1;
-- name: alert_rule_remove_told
DELETE FROM alert_told WHERE rule = $1;
-- name: alert_rule_rows
SELECT project, events, benchmark, metric, silence_ns, target, secret, author, created_ns FROM alert_rule ORDER BY id;
-- name: alert_rule_put
INSERT INTO alert_rule (project, events, benchmark, metric, silence_ns, target, secret, author, created_ns)
SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS TEXT),
	CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM alert_rule r WHERE r.project = $1 AND r.created_ns = $9);

-- name: alert_tell
INSERT INTO alert_told (rule, benchmark, metric, at_ns) VALUES ($1, $2, $3, $4)
ON CONFLICT (rule, benchmark, metric) DO UPDATE SET at_ns = excluded.at_ns WHERE alert_told.at_ns <= $5 RETURNING at_ns;
-- name: alert_add
INSERT INTO alert (rule, run, body, state, attempts, due_ns, created_ns)
SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), 0, 0, CAST($4 AS BIGINT), CAST($4 AS BIGINT)
WHERE (SELECT count(*) FROM alert a WHERE a.rule = $1 AND a.state = 0) < CAST($5 AS BIGINT)
	AND EXISTS (SELECT 1 FROM alert_rule r WHERE r.id = $1) RETURNING id;
-- name: alert_list
SELECT a.id, a.rule, a.run, a.state, a.attempts, a.due_ns, a.created_ns, a.reason, a.body FROM alert a JOIN alert_rule r ON r.id = a.rule
WHERE r.project = $1 ORDER BY a.id DESC LIMIT $2;
-- name: alert_due
SELECT a.id, a.attempts, a.due_ns, a.body, r.target, r.secret, r.id FROM alert a JOIN alert_rule r ON r.id = a.rule
WHERE a.state = 0 AND a.due_ns <= $1 ORDER BY a.due_ns, a.id LIMIT 1;
-- name: alert_claim
UPDATE alert SET attempts = attempts + 1, due_ns = $4 WHERE id = $1 AND state = 0 AND attempts = $2 AND due_ns = $3 RETURNING id;
-- name: alert_next
SELECT min(a.due_ns) FROM alert a JOIN alert_rule r ON r.id = a.rule WHERE a.state = 0;
-- name: alert_settle
UPDATE alert SET state = $3, due_ns = $4, reason = $5 WHERE id = $1 AND attempts = $2;
-- name: alert_hold
UPDATE alert SET due_ns = $2 WHERE rule = $1 AND state = 0 AND due_ns < $2;
-- name: alert_forget
DELETE FROM alert WHERE created_ns < $1;
-- name: alert_forget_told
DELETE FROM alert_told WHERE at_ns < $1;

-- name: alert_search_add
INSERT INTO alert_search (project, benchmark, metric, run) VALUES ($1, $2, $3, $4);
-- name: alert_search_first
SELECT project, benchmark, metric FROM alert_search ORDER BY id LIMIT 1;
-- name: alert_search_of
SELECT id, run FROM alert_search WHERE project = $1 AND benchmark = $2 AND metric = $3 ORDER BY id DESC LIMIT $4;
-- name: alert_search_done
DELETE FROM alert_search WHERE id = $1 RETURNING id;
