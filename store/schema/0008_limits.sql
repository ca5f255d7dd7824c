-- What a project may hold, and for how long.  A row without a name is for all projects that have none of their own; 0: no limit.
CREATE TABLE project_limit (
	project @TEXT@ PRIMARY KEY,
	most_runs BIGINT NOT NULL,
	most_bytes BIGINT NOT NULL,
	keep_days BIGINT NOT NULL,
	keep_newest BIGINT NOT NULL,
	set_ns BIGINT NOT NULL,
	set_by @TEXT@ NOT NULL
);
-- The size of a run's blocks and of its report, as they are stored.
ALTER TABLE run ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE run SET bytes = (SELECT COALESCE(sum(length(c.data)), 0) FROM series s JOIN chunk c ON c.series = s.id WHERE s.run = run.id)
	+ (SELECT COALESCE(sum(length(x.data)), 0) FROM report x WHERE x.run = run.id);
