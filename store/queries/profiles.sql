-- Functions, measures and totals.

-- name: function_find
SELECT id FROM function WHERE digest = $1;
-- name: function_search
SELECT id, name, library FROM function WHERE replace(lower(name), lower($1), '') <> lower(name) ORDER BY id LIMIT $2;
-- name: function_add
INSERT INTO function (id, digest, name, library, linkage, file, line, inlined) VALUES ($1, $2, $3, $4, $5, $6, $7, $8);
-- name: function_get
SELECT id, name, library, linkage, file, line, inlined FROM function WHERE id = $1;
-- name: functions_after
SELECT id, name, library, linkage, file, line, inlined FROM function WHERE id > $1 ORDER BY id;

-- name: function_last
SELECT COALESCE(max(id), 0) FROM function;

-- name: measure_find
SELECT id FROM measure WHERE digest = $1;
-- name: measure_add
INSERT INTO measure (digest, name, unit, fold, better, exact) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id;
-- name: measures_of_series
SELECT DISTINCT m.id, m.name, m.unit, m.fold, m.better, m.exact FROM chunk c JOIN measure m ON m.id = c.kind - 16
WHERE c.series = $1 AND c.kind > 16 ORDER BY m.id;
-- name: measures_named
SELECT id, unit FROM measure WHERE name = $1 ORDER BY id;

-- name: totals_add
INSERT INTO function_total (benchmark, measure, part, started_ns, series, data) VALUES ($1, $2, $3, $4, $5, $6);
-- name: totals_of_series
SELECT data FROM function_total WHERE series = $1 AND measure = $2 ORDER BY part;
-- name: totals_of_part
SELECT started_ns, series, data FROM function_total
WHERE benchmark = $1 AND measure = $2 AND part = $3 AND started_ns >= $4 AND started_ns <= $5 ORDER BY started_ns DESC, series DESC;
-- name: totals_newest
SELECT b.name, t.data FROM benchmark b JOIN project p ON p.id = b.project
	JOIN function_total t ON t.benchmark = b.id AND t.measure = 0 AND t.part = $2
WHERE p.name = $1 AND t.started_ns = (SELECT max(x.started_ns) FROM function_total x
	WHERE x.benchmark = b.id AND x.measure = 0 AND x.part = $2) ORDER BY b.name LIMIT $3;
-- name: totals_all
SELECT series, measure, data FROM function_total;
