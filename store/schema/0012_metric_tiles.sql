-- Tiles of metrics, whose number is that of the metric's name below zero: layout 1.  Seals of earlier versions have none
-- until a server adds them; newest_ns is when the newest of the seal's runs started.
ALTER TABLE seal ADD COLUMN layout BIGINT NOT NULL DEFAULT 0;
ALTER TABLE seal ADD COLUMN newest_ns BIGINT NOT NULL DEFAULT 0;
-- Without opening the seals: their blobs lie between the columns of a row.
CREATE INDEX seal_by_number ON seal (benchmark, number, last_series, layout, newest_ns);
-- What is still to be done after an upgrade.
CREATE INDEX seal_by_layout ON seal (layout, benchmark, number);
