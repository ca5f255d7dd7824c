// SPDX-License-Identifier: Apache-2.0
/* Writes the conditions of a run to report.json: sides, builds and host. */
#include "base/json_write.h"
#include "reporters/verdict_exchange.h"
#include "reporters/verdict_queries.h"

static void add_facts(struct fg_json_writer *w, const char *name,
		      const struct fg_environment *environment)
{
	fg_json_begin_object(w, name);
	for (size_t i = 0; i < environment->count; i++)
		fg_json_text(w, environment->facts[i].key, environment->facts[i].value);
	fg_json_end(w);
}

static void add_build(struct fg_json_writer *w, const char *name,
		      const struct fg_build_facts *build)
{
	struct fg_environment facts = {0};

	fg_build_facts_list(build, &facts);
	add_facts(w, name, &facts);
	fg_environment_release(&facts);
}

static void add_side(struct fg_json_writer *w, const char *name, const struct fg_side *side)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "commit", side->commit);
	fg_json_text(w, "branch", side->branch);
	fg_json_text(w, "describe", side->describe);
	fg_json_bool(w, "dirty", side->dirty);
	add_facts(w, "build", &side->build);
	fg_json_end(w);
}

void fg_report_add_run(const struct fg_report *report, struct fg_json_writer *w)
{
	const struct fg_run *run = report->run;
	char fingerprint[17] = "";

	fg_environment_fingerprint(&run->host, fingerprint);
	fg_json_begin_object(w, "run");
	fg_json_text(w, "id", run->id);
	fg_json_text(w, "project", run->project);
	fg_json_time(w, "started_at", run->started_ns);
	fg_json_time(w, "ended_at", run->ended_ns);
	fg_json_bool(w, "complete", run->complete);
	fg_json_text(w, "schedule", fg_report_schedule(report->verdict));
	fg_json_text(w, "fastgate_version", run->tool_version);
	add_side(w, "baseline", &run->sides[FG_ARM_BASELINE]);
	add_side(w, "candidate", &run->sides[FG_ARM_CANDIDATE]);
	add_facts(w, "host", &run->host);
	fg_json_text(w, "host_fingerprint", fingerprint);
	fg_json_end(w);
}

void fg_report_add_builds(const struct fg_report *report,
			  const struct fg_benchmark_verdict *benchmark, struct fg_json_writer *w)
{
	const struct fg_series *series = fg_run_find(report->run, benchmark->name);

	if (!series)
		return;
	fg_json_text(w, "command", series->command);
	fg_json_begin_object(w, "build");
	add_build(w, "baseline", &series->build[FG_ARM_BASELINE]);
	add_build(w, "candidate", &series->build[FG_ARM_CANDIDATE]);
	fg_json_end(w);
}
