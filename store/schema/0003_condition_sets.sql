-- What many runs have in common, a machine or a build, once: a set of conditions, known by the digest of theirs.  run_fact keeps
-- what is different from run to run, and all that was stored before there were sets.
CREATE TABLE fact_set (
	id @ID@,
	digest @BYTES@ NOT NULL UNIQUE
);
CREATE TABLE set_fact (
	fact_set BIGINT NOT NULL REFERENCES fact_set (id) ON DELETE CASCADE,
	fact BIGINT NOT NULL REFERENCES fact (id),
	PRIMARY KEY (fact_set, fact)
) @CLUSTERED@;
CREATE INDEX set_by_fact ON set_fact (fact, fact_set);
CREATE TABLE run_set (
	run BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	scope BIGINT NOT NULL,
	fact_set BIGINT NOT NULL REFERENCES fact_set (id),
	PRIMARY KEY (run, scope)
) @CLUSTERED@;
CREATE INDEX run_by_set ON run_set (fact_set, run);
