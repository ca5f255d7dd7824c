-- What profiles count besides CPU time.  A measure is all of its row: the same name with another unit is another measure.
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
