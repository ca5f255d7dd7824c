-- Which dictionaries were used last, without opening them: the blobs lie between the columns of a row.
CREATE INDEX dictionary_by_use ON dictionary (used_ns, digest);

-- The newest runs, of whatever project, without sorting all of them.
CREATE INDEX run_by_start ON run (started_ns, uuid);
