-- The schema of both databases. Words between @ signs are replaced for each database: @ID@ stands for a number that the
-- database assigns, @TEXT@ for text compared byte by byte, @BYTES@ for raw bytes, and @CLUSTERED@ makes SQLite store the
-- rows in the order of the primary key. Numbers are BIGINT or DOUBLE PRECISION, booleans are 0 and 1, and times are
-- nanoseconds since 1970.
-- A change of the schema raises its version in store/store.c.

CREATE TABLE project (
	id @ID@,
	name @TEXT@ NOT NULL UNIQUE
);

CREATE TABLE benchmark (
	id @ID@,
	project BIGINT NOT NULL REFERENCES project (id),
	name @TEXT@ NOT NULL,
	UNIQUE (project, name)
);

-- Long strings that many runs share: commands, metric definitions. They are unique by their digest: an index over the text
-- itself would be as large as the text, and PostgreSQL refuses to index more than 2.7 KB.
CREATE TABLE words (
	id @ID@,
	digest @BYTES@ NOT NULL UNIQUE,
	value @TEXT@ NOT NULL
);

-- A function is identified by its demangled name and library, so that two builds of a program share a row.
CREATE TABLE function (
	id @ID@,
	digest @BYTES@ NOT NULL UNIQUE,
	name @TEXT@ NOT NULL,
	library @TEXT@ NOT NULL,
	linkage @TEXT@,
	file @TEXT@,
	line BIGINT NOT NULL,
	inlined BIGINT NOT NULL
);

CREATE TABLE fact (
	id @ID@,
	digest @BYTES@ NOT NULL UNIQUE,
	key @TEXT@ NOT NULL,
	value @TEXT@ NOT NULL,
	identity BIGINT NOT NULL
);
CREATE INDEX fact_by_key ON fact (key);

CREATE TABLE run (
	id @ID@,
	uuid @TEXT@ NOT NULL UNIQUE,
	project BIGINT NOT NULL REFERENCES project (id),
	started_ns BIGINT NOT NULL,
	ended_ns BIGINT NOT NULL,
	complete BIGINT NOT NULL,
	has_baseline BIGINT NOT NULL,
	seed @TEXT@ NOT NULL,
	tool_version @TEXT@,
	outcome @TEXT@,
	fingerprint @TEXT@ NOT NULL,
	commit_id @TEXT@,
	branch @TEXT@,
	described @TEXT@,
	dirty BIGINT NOT NULL,
	base_commit @TEXT@,
	base_branch @TEXT@,
	base_described @TEXT@,
	base_dirty BIGINT NOT NULL,
	tag @TEXT@,
	digest @TEXT@,
	bytes BIGINT NOT NULL DEFAULT 0 -- size of all rows added by the run; shared names count for the run that added them
);
CREATE INDEX run_by_time ON run (project, started_ns, id);
CREATE INDEX run_by_branch ON run (project, branch, started_ns);
CREATE INDEX run_by_commit ON run (project, commit_id, started_ns);
CREATE INDEX run_by_tag ON run (project, tag, started_ns);
-- Finds the newest runs of all projects without sorting.
CREATE INDEX run_by_start ON run (started_ns, uuid);

-- The conditions of a run.
-- scope: 0 host, 1 baseline side, 2 candidate side, 3 + 2 * position + arm: binaries of one benchmark.
CREATE TABLE run_fact (
	run BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	scope BIGINT NOT NULL,
	fact BIGINT NOT NULL REFERENCES fact (id),
	PRIMARY KEY (run, scope, fact)
) @CLUSTERED@;
CREATE INDEX run_by_fact ON run_fact (fact, run);

CREATE TABLE series (
	id @ID@,
	run BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	position BIGINT NOT NULL,
	benchmark BIGINT NOT NULL REFERENCES benchmark (id),
	started_ns BIGINT NOT NULL, -- start of the run, so that an index finds a benchmark's newest runs
	command BIGINT,
	metrics BIGINT NOT NULL REFERENCES words (id),
	details @TEXT@ NOT NULL,
	UNIQUE (run, position)
);
CREATE INDEX series_by_benchmark ON series (benchmark, started_ns, id);

-- Encoded values of one series; docs/formats/store.md describes each kind.
CREATE TABLE chunk (
	series BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
	kind BIGINT NOT NULL,
	first BIGINT NOT NULL,
	data @BYTES@ NOT NULL,
	PRIMARY KEY (series, kind, first)
);

-- Time of functions, in parts by function id: docs/formats/store.md. In SQLite, the rows of a part are contiguous over all runs
-- of a benchmark.
CREATE TABLE function_total (
	benchmark BIGINT NOT NULL,
	measure BIGINT NOT NULL, -- 0: CPU time
	part BIGINT NOT NULL,
	started_ns BIGINT NOT NULL, -- start of the run
	series BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
	data @BYTES@ NOT NULL,
	PRIMARY KEY (benchmark, measure, part, started_ns, series)
) @CLUSTERED@;
CREATE INDEX function_total_by_series ON function_total (series, measure, part);

-- The values of a trend line, so that no chunk has to be opened.
CREATE TABLE level (
	benchmark BIGINT NOT NULL,
	metric BIGINT NOT NULL,
	started_ns BIGINT NOT NULL, -- start of the run
	run BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	pairs BIGINT NOT NULL,
	baseline DOUBLE PRECISION,
	candidate DOUBLE PRECISION,
	ratio DOUBLE PRECISION,
	low DOUBLE PRECISION,
	high DOUBLE PRECISION,
	step DOUBLE PRECISION, -- logarithm of the ratio, for a chain of runs
	step_error DOUBLE PRECISION, -- standard error; 0: exact
	outcome @TEXT@,
	PRIMARY KEY (benchmark, metric, started_ns, run)
) @CLUSTERED@;
CREATE INDEX level_by_run ON level (run);

CREATE TABLE report (
	run BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	format @TEXT@ NOT NULL,
	data @BYTES@ NOT NULL,
	PRIMARY KEY (run, format)
);

CREATE TABLE token (
	id @ID@,
	digest @TEXT@ NOT NULL UNIQUE,
	project @TEXT@,
	scope @TEXT@ NOT NULL,
	note @TEXT@,
	created_ns BIGINT NOT NULL,
	expires_ns BIGINT NOT NULL,
	revoked BIGINT NOT NULL,
	used_ns BIGINT NOT NULL,
	used_from @TEXT@
);

CREATE TABLE annotation (
	id @ID@,
	project BIGINT NOT NULL REFERENCES project (id),
	run @TEXT@,
	benchmark @TEXT@,
	metric @TEXT@,
	kind @TEXT@ NOT NULL,
	value @TEXT@ NOT NULL,
	author @TEXT@,
	created_ns BIGINT NOT NULL
);
CREATE INDEX annotation_by_project ON annotation (project, created_ns);

-- Whole runs with a known right answer (docs/prove.md). Runs on the same card are counted together.
CREATE TABLE proof (
	id @ID@,
	project BIGINT NOT NULL REFERENCES project (id),
	card @TEXT@ NOT NULL,
	fingerprint @TEXT@ NOT NULL, -- identifies the runner
	at_ns BIGINT NOT NULL,
	data @TEXT@ NOT NULL
);
-- A server stores only the cards, not the runs.
CREATE TABLE proof_card (
	project BIGINT NOT NULL REFERENCES project (id),
	fingerprint @TEXT@ NOT NULL, -- identifies the runner
	at_ns BIGINT NOT NULL, -- time of the upload
	data @TEXT@ NOT NULL,
	PRIMARY KEY (project, fingerprint)
) @CLUSTERED@;
CREATE INDEX proof_by_runner ON proof (project, fingerprint, id);

-- Measures of profiles other than CPU time. The whole row identifies a measure, not the name alone.
CREATE TABLE measure (
	id @ID@,
	digest @BYTES@ NOT NULL UNIQUE,
	name @TEXT@ NOT NULL,
	unit @TEXT@ NOT NULL,
	fold BIGINT NOT NULL,
	better BIGINT NOT NULL,
	exact BIGINT NOT NULL
);
CREATE INDEX measure_by_name ON measure (name);

-- The audit log. Rows are only added; names are stored as text, so that a row outlives its subject.
CREATE TABLE audit (
	id @ID@,
	at_ns BIGINT NOT NULL,
	project @TEXT@,
	who @TEXT@ NOT NULL,
	action @TEXT@ NOT NULL,
	subject @TEXT@,
	detail @TEXT@
);
CREATE INDEX audit_by_project ON audit (project, id);

-- Rights of people. The kind of a name is person (0) or group (1).
CREATE TABLE role (
	id @ID@,
	kind BIGINT NOT NULL,
	who @TEXT@ NOT NULL,
	project @TEXT@,
	scope @TEXT@ NOT NULL,
	created_ns BIGINT NOT NULL
);
CREATE INDEX role_by_who ON role (who);

-- Limits on a project's size and on the age of its runs. A row without a name applies to projects without a row; 0: no limit.
CREATE TABLE project_limit (
	project @TEXT@ PRIMARY KEY,
	most_runs BIGINT NOT NULL,
	most_bytes BIGINT NOT NULL,
	keep_days BIGINT NOT NULL,
	keep_newest BIGINT NOT NULL
);

-- An address called on regressions, creep, errors and change points. Pending calls are in webhook_call.
CREATE TABLE webhook (
	project @TEXT@ PRIMARY KEY,
	url @TEXT@ NOT NULL,
	template @TEXT@ NOT NULL,
	problem @TEXT@
);
CREATE TABLE webhook_call (
	id @ID@,
	project @TEXT@ NOT NULL,
	run @TEXT@ NOT NULL,
	attempts BIGINT NOT NULL,
	due_ns BIGINT NOT NULL
);
CREATE INDEX webhook_call_by_due ON webhook_call (due_ns);
CREATE INDEX webhook_call_by_project ON webhook_call (project);
