-- One schema for SQLite and PostgreSQL.  Words between @ signs differ between the two and are replaced before use:
-- @ID@ a number that the database hands out, @TEXT@ text compared byte by byte, @BYTES@ raw bytes, @CLUSTERED@ "the table is its primary key".
-- Lines of later parts that begin with @ONLY_POSTGRESQL@ are comments in SQLite.
-- Numbers are BIGINT or DOUBLE PRECISION throughout; there are no booleans (0 and 1), no dates (nanoseconds).

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

-- Long texts that many runs share: commands, metric definitions.  The digest is what makes them unique: an index over
-- the text itself would be as large as the text, and PostgreSQL refuses to index more than 2.7 KB.
CREATE TABLE words (
	id @ID@,
	digest @BYTES@ NOT NULL UNIQUE,
	value @TEXT@ NOT NULL
);

-- Identity is demangled name and library: two builds of a program meet in the same row.
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

-- The tree of call paths of everything ever stored.  Parents are stored before their children, so a parent's id is smaller;
-- the root of a program has parent 0.
CREATE TABLE node (
	id @ID@,
	parent BIGINT NOT NULL,
	function BIGINT NOT NULL,
	UNIQUE (parent, function)
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
	digest @TEXT@
);
CREATE INDEX run_by_time ON run (project, started_ns, id);
CREATE INDEX run_by_branch ON run (project, branch, started_ns);
CREATE INDEX run_by_commit ON run (project, commit_id, started_ns);
CREATE INDEX run_by_tag ON run (project, tag, started_ns);

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
	command BIGINT,
	metrics BIGINT NOT NULL REFERENCES words (id),
	details @TEXT@ NOT NULL,
	UNIQUE (run, position)
);
CREATE INDEX series_by_benchmark ON series (benchmark, id);

-- part: values, reports, and what the server adds

-- Encoded values of one series; docs/formats/store.md describes each kind.
CREATE TABLE chunk (
	series BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
	kind BIGINT NOT NULL,
	first BIGINT NOT NULL,
	data @BYTES@ NOT NULL,
	PRIMARY KEY (series, kind, first)
);

-- What a trend line needs, without opening a chunk.
CREATE TABLE level (
	benchmark BIGINT NOT NULL,
	metric BIGINT NOT NULL,
	series BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
	pairs BIGINT NOT NULL,
	baseline DOUBLE PRECISION,
	candidate DOUBLE PRECISION,
	ratio DOUBLE PRECISION,
	low DOUBLE PRECISION,
	high DOUBLE PRECISION,
	outcome @TEXT@,
	PRIMARY KEY (benchmark, metric, series)
) @CLUSTERED@;
CREATE INDEX level_by_series ON level (series);

CREATE TABLE report (
	run BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	format @TEXT@ NOT NULL,
	data @BYTES@ NOT NULL,
	PRIMARY KEY (run, format)
);

CREATE TABLE baseline (
	project BIGINT NOT NULL REFERENCES project (id),
	name @TEXT@ NOT NULL,
	run BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	set_ns BIGINT NOT NULL,
	PRIMARY KEY (project, name)
);
CREATE INDEX baseline_by_run ON baseline (run);

-- Every 256 series of a benchmark, turned around: one small blob per function, so that a trend opens only its own.
CREATE TABLE seal (
	benchmark BIGINT NOT NULL,
	number BIGINT NOT NULL,
	last_series BIGINT NOT NULL,
	members @BYTES@ NOT NULL,
	PRIMARY KEY (benchmark, number)
);
CREATE TABLE tile (
	benchmark BIGINT NOT NULL,
	function BIGINT NOT NULL,
	number BIGINT NOT NULL,
	data @BYTES@ NOT NULL,
	PRIMARY KEY (benchmark, function, number)
) @CLUSTERED@;

CREATE TABLE dictionary (
	digest @TEXT@ PRIMARY KEY,
	data @BYTES@ NOT NULL,
	used_ns BIGINT NOT NULL
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
	used_ns BIGINT NOT NULL
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

CREATE TABLE triage (
	project BIGINT NOT NULL REFERENCES project (id),
	benchmark @TEXT@ NOT NULL,
	metric @TEXT@ NOT NULL,
	run @TEXT@ NOT NULL,
	state @TEXT@ NOT NULL,
	note @TEXT@,
	author @TEXT@,
	changed_ns BIGINT NOT NULL,
	PRIMARY KEY (project, benchmark, metric, run)
);
