-- Rules by which people are told what runs found.  Patterns have * and ?; a webhook's secret signs what is sent.
CREATE TABLE alert_rule (
	id @ID@,
	project @TEXT@ NOT NULL,
	events BIGINT NOT NULL,
	benchmark @TEXT@ NOT NULL,
	metric @TEXT@ NOT NULL,
	silence_ns BIGINT NOT NULL,
	channel @TEXT@ NOT NULL,
	target @TEXT@ NOT NULL,
	secret @TEXT@,
	author @TEXT@,
	created_ns BIGINT NOT NULL
);
CREATE INDEX alert_rule_by_project ON alert_rule (project);
-- What is to be sent, and what became of it: written in the transaction of the run that it is about.
CREATE TABLE alert (
	id @ID@,
	rule BIGINT NOT NULL,
	run @TEXT@,
	body @TEXT@ NOT NULL,
	state BIGINT NOT NULL,
	attempts BIGINT NOT NULL,
	due_ns BIGINT NOT NULL,
	created_ns BIGINT NOT NULL,
	reason @TEXT@
);
CREATE INDEX alert_by_due ON alert (state, due_ns);
CREATE INDEX alert_by_rule ON alert (rule, state);
-- When a rule last told of a metric.
CREATE TABLE alert_told (
	rule BIGINT NOT NULL,
	benchmark @TEXT@ NOT NULL,
	metric @TEXT@ NOT NULL,
	at_ns BIGINT NOT NULL,
	PRIMARY KEY (rule, benchmark, metric)
) @CLUSTERED@;
-- Metrics with a new run in which change points are to be looked for.
CREATE TABLE alert_search (
	id @ID@,
	project @TEXT@ NOT NULL,
	benchmark @TEXT@ NOT NULL,
	metric @TEXT@ NOT NULL,
	run @TEXT@ NOT NULL
);
CREATE INDEX alert_search_by_place ON alert_search (project, benchmark, metric);
