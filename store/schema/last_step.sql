-- The last step of an upgrade: no program that knows less than schema 14 uses the database from now on, and new call paths
-- go into blocks.  A new database begins with it.  Whoever still runs is not to add rows that nobody looks for.
@ONLY_POSTGRESQL@ CREATE FUNCTION perfdb_refuse_path() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
@ONLY_POSTGRESQL@ 	RAISE EXCEPTION 'this version is too old for the database, which stores call paths in blocks';
@ONLY_POSTGRESQL@ END $$;
@ONLY_POSTGRESQL@ CREATE TRIGGER node_closed BEFORE INSERT ON node FOR EACH STATEMENT EXECUTE FUNCTION perfdb_refuse_path();
@ONLY_SQLITE@ CREATE TRIGGER node_closed BEFORE INSERT ON node BEGIN
@ONLY_SQLITE@ 	SELECT RAISE(FAIL, 'this version is too old for the database, which stores call paths in blocks');
@ONLY_SQLITE@ END;
UPDATE schema_version SET usable_from = 14;
