-- The oldest program, by the schema it knows, that may go on using the store: servers are replaced one by one.
ALTER TABLE schema_version ADD COLUMN usable_from BIGINT NOT NULL DEFAULT 0;
-- Blocks are packed already: PostgreSQL keeps them as they are, instead of trying to pack them again.
@ONLY_POSTGRESQL@ ALTER TABLE chunk ALTER COLUMN data SET STORAGE EXTERNAL;
@ONLY_POSTGRESQL@ ALTER TABLE dictionary ALTER COLUMN data SET STORAGE EXTERNAL;
@ONLY_POSTGRESQL@ ALTER TABLE report ALTER COLUMN data SET STORAGE EXTERNAL;
