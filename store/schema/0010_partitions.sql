-- On PostgreSQL, values lie in partitions by the retention of their project and the month in which they were stored
-- (docs/decisions/0011).  A partition has the 2^40 ids from its number times 2^40 on; number 0 has what was stored before there
-- were others.  Triggers number runs and series, so that servers of earlier versions do it right, too.
@ONLY_POSTGRESQL@ CREATE TABLE run_partition (
@ONLY_POSTGRESQL@ 	number BIGINT PRIMARY KEY,
@ONLY_POSTGRESQL@ 	class BIGINT NOT NULL,
@ONLY_POSTGRESQL@ 	month BIGINT NOT NULL,
@ONLY_POSTGRESQL@ 	leftovers BIGINT NOT NULL DEFAULT 0
@ONLY_POSTGRESQL@ );
@ONLY_POSTGRESQL@ INSERT INTO run_partition (number, class, month) VALUES (0, 0, 0);
@ONLY_POSTGRESQL@ CREATE INDEX run_partition_by_class ON run_partition (class, number);
@ONLY_POSTGRESQL@ ALTER TABLE project ADD COLUMN class BIGINT NOT NULL DEFAULT 0;
@ONLY_POSTGRESQL@ CREATE FUNCTION perfdb_first_id(of_project BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
@ONLY_POSTGRESQL@ 	SELECT COALESCE((SELECT max(x.number) FROM run_partition x JOIN project p ON p.class = x.class WHERE p.id = of_project),
@ONLY_POSTGRESQL@ 		(SELECT max(x.number) FROM run_partition x)) << 40
@ONLY_POSTGRESQL@ $$;
@ONLY_POSTGRESQL@ CREATE FUNCTION perfdb_number_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
@ONLY_POSTGRESQL@ 	NEW.id := (NEW.id & 1099511627775) + perfdb_first_id(NEW.project);
@ONLY_POSTGRESQL@ 	RETURN NEW;
@ONLY_POSTGRESQL@ END $$;
@ONLY_POSTGRESQL@ CREATE FUNCTION perfdb_number_series() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
@ONLY_POSTGRESQL@ 	NEW.id := (NEW.id & 1099511627775) + (SELECT perfdb_first_id(b.project) FROM benchmark b WHERE b.id = NEW.benchmark);
@ONLY_POSTGRESQL@ 	RETURN NEW;
@ONLY_POSTGRESQL@ END $$;
@ONLY_POSTGRESQL@ CREATE TRIGGER run_number BEFORE INSERT ON run FOR EACH ROW EXECUTE FUNCTION perfdb_number_run();
@ONLY_POSTGRESQL@ CREATE TRIGGER series_number BEFORE INSERT ON series FOR EACH ROW EXECUTE FUNCTION perfdb_number_series();
-- part: the tables, with what they hold as their first partition

-- Nothing is read or written: that all ids fit into the first partition is checked later, while the server works.
@ONLY_POSTGRESQL@ ALTER TABLE chunk RENAME TO chunk_0;
@ONLY_POSTGRESQL@ ALTER TABLE chunk_0 DROP CONSTRAINT chunk_series_fkey;
@ONLY_POSTGRESQL@ ALTER INDEX chunk_pkey RENAME TO chunk_0_pkey;
@ONLY_POSTGRESQL@ CREATE TABLE chunk (LIKE chunk_0 INCLUDING DEFAULTS INCLUDING STORAGE, PRIMARY KEY (series, kind, first)) PARTITION BY RANGE (series);
@ONLY_POSTGRESQL@ ALTER TABLE chunk ATTACH PARTITION chunk_0 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
@ONLY_POSTGRESQL@ ALTER TABLE chunk_0 ADD CONSTRAINT chunk_0_range CHECK (series < 1099511627776) NOT VALID;
@ONLY_POSTGRESQL@ ALTER TABLE report RENAME TO report_0;
@ONLY_POSTGRESQL@ ALTER TABLE report_0 DROP CONSTRAINT report_run_fkey;
@ONLY_POSTGRESQL@ ALTER INDEX report_pkey RENAME TO report_0_pkey;
@ONLY_POSTGRESQL@ CREATE TABLE report (LIKE report_0 INCLUDING DEFAULTS INCLUDING STORAGE, PRIMARY KEY (run, format)) PARTITION BY RANGE (run);
@ONLY_POSTGRESQL@ ALTER TABLE report ATTACH PARTITION report_0 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
@ONLY_POSTGRESQL@ ALTER TABLE report_0 ADD CONSTRAINT report_0_range CHECK (run < 1099511627776) NOT VALID;
@ONLY_POSTGRESQL@ ALTER TABLE tile RENAME TO tile_0;
@ONLY_POSTGRESQL@ ALTER INDEX tile_pkey RENAME TO tile_0_pkey;
@ONLY_POSTGRESQL@ CREATE TABLE tile (LIKE tile_0 INCLUDING DEFAULTS INCLUDING STORAGE, PRIMARY KEY (benchmark, function, number)) PARTITION BY RANGE (number);
@ONLY_POSTGRESQL@ ALTER TABLE tile ATTACH PARTITION tile_0 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
@ONLY_POSTGRESQL@ ALTER TABLE tile_0 ADD CONSTRAINT tile_0_range CHECK (number < 1099511627776) NOT VALID;
-- part: removal

-- What references would do, if they could leave out a partition that is about to be dropped as a whole.
@ONLY_POSTGRESQL@ CREATE FUNCTION perfdb_forget_series() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
@ONLY_POSTGRESQL@ 	IF (OLD.id >> 40)::TEXT IS DISTINCT FROM current_setting('perfdb.whole_partition', true) THEN
@ONLY_POSTGRESQL@ 		DELETE FROM chunk WHERE series = OLD.id;
@ONLY_POSTGRESQL@ 	END IF;
@ONLY_POSTGRESQL@ 	RETURN NULL;
@ONLY_POSTGRESQL@ END $$;
@ONLY_POSTGRESQL@ CREATE FUNCTION perfdb_forget_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
@ONLY_POSTGRESQL@ 	IF (OLD.id >> 40)::TEXT IS DISTINCT FROM current_setting('perfdb.whole_partition', true) THEN
@ONLY_POSTGRESQL@ 		DELETE FROM report WHERE run = OLD.id;
@ONLY_POSTGRESQL@ 	END IF;
@ONLY_POSTGRESQL@ 	RETURN NULL;
@ONLY_POSTGRESQL@ END $$;
@ONLY_POSTGRESQL@ CREATE TRIGGER series_gone AFTER DELETE ON series FOR EACH ROW EXECUTE FUNCTION perfdb_forget_series();
@ONLY_POSTGRESQL@ CREATE TRIGGER run_gone AFTER DELETE ON run FOR EACH ROW EXECUTE FUNCTION perfdb_forget_run();
