-- Who decided what.  Rows are only ever added; names are texts, so that a row outlives what it is about.
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
