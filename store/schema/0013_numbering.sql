-- On PostgreSQL, the numbers of runs and series, each from one query whose plan a session keeps: a function in SQL was planned
-- anew for every row.
@ONLY_POSTGRESQL@ CREATE OR REPLACE FUNCTION perfdb_number_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
@ONLY_POSTGRESQL@ 	NEW.id := (NEW.id & 1099511627775) + (SELECT COALESCE((SELECT max(x.number) FROM run_partition x WHERE x.class = p.class),
@ONLY_POSTGRESQL@ 		(SELECT max(x.number) FROM run_partition x)) << 40 FROM project p WHERE p.id = NEW.project);
@ONLY_POSTGRESQL@ 	RETURN NEW;
@ONLY_POSTGRESQL@ END $$;
@ONLY_POSTGRESQL@ CREATE OR REPLACE FUNCTION perfdb_number_series() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
@ONLY_POSTGRESQL@ 	NEW.id := (NEW.id & 1099511627775) + (SELECT COALESCE((SELECT max(x.number) FROM run_partition x WHERE x.class = p.class),
@ONLY_POSTGRESQL@ 		(SELECT max(x.number) FROM run_partition x)) << 40
@ONLY_POSTGRESQL@ 		FROM benchmark b JOIN project p ON p.id = b.project WHERE b.id = NEW.benchmark);
@ONLY_POSTGRESQL@ 	RETURN NEW;
@ONLY_POSTGRESQL@ END $$;
