-- Trace archives of runs, which lie elsewhere under the object's name.  A run that is removed leaves its row until the object is gone, too.
CREATE TABLE archive (
	run @TEXT@ PRIMARY KEY,
	digest @TEXT@ NOT NULL,
	bytes BIGINT NOT NULL,
	object @TEXT@ NOT NULL,
	stored_ns BIGINT NOT NULL,
	author @TEXT@
);
CREATE INDEX archive_by_object ON archive (object);
-- Whose objects they are: at most one row, made when it is first needed.
CREATE TABLE archive_owner (
	one BIGINT PRIMARY KEY,
	id @TEXT@ NOT NULL
);
