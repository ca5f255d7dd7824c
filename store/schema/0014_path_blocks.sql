-- Call paths with consecutive ids, from `first` on, packed into one row; docs/formats/store.md says how.  Databases of
-- earlier versions go on with rows of `node` until last_step.sql; those rows stay.
CREATE TABLE path_block (
	first BIGINT PRIMARY KEY,
	count BIGINT NOT NULL,
	data @BYTES@ NOT NULL
);
@ONLY_POSTGRESQL@ ALTER TABLE path_block ALTER COLUMN data SET STORAGE EXTERNAL;
-- Paths of blocks whose parent is not in the same block.
CREATE TABLE path_root (
	parent BIGINT NOT NULL,
	function BIGINT NOT NULL,
	id BIGINT NOT NULL,
	PRIMARY KEY (parent, function)
) @CLUSTERED@;
