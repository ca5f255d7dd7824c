// SPDX-License-Identifier: Apache-2.0
#include "cli/session/stuck.h"

#include "cli/session/session.h"
#include "profile/attach/whereabouts.h"

static bool was_interrupted(const struct fg_session *session)
{
	return session->cli->interrupted && *session->cli->interrupted;
}

static void say_lines(const struct fg_cli *cli, const char *name,
		      const struct fg_whereabouts *where)
{
	fg_cli_say(cli, "%s: %s", name, where->summary);
	for (const char *line = where->stacks; *line;) {
		const size_t length = strcspn(line, "\n");

		fg_cli_say(cli, "%.*s", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

/* Were Python frames left out while this was measured? */
static bool leaves_out_python(const struct fg_session *session, const struct fg_series *series)
{
	for (size_t i = 0; i < session->benchmark_count; i++) {
		const struct fg_benchmark *benchmark = session->benchmarks[i];

		if (strcmp(benchmark->name, series->name) == 0)
			return benchmark->measure.sampler.python == FG_PYTHON_OFF;
	}
	return false;
}

void fg_session_explain_stuck(void *context, const struct fg_runner_stuck *stuck, char **summary,
			      char **stacks)
{
	struct fg_session *session = context;
	const struct fg_whereabouts_request request = {
		.root = stuck->pid,
		.below_root = stuck->is_launcher,
		.symbolizer = session->symbolizer,
		.no_python = leaves_out_python(session, stuck->series)};
	struct fg_whereabouts where = {0};
	struct fg_error why = {0};

	if (fg_whereabouts_find(&request, &where, &why) != FG_OK) {
		fg_progress_clear(&session->progress);
		fg_cli_warn(session->cli, "%s: where it stands is not known: %s",
			    stuck->series->name, why.message);
		return;
	}
	if (was_interrupted(session)) {
		fg_progress_clear(&session->progress);
		say_lines(session->cli, stuck->series->name, &where);
	}
	*summary = where.summary;
	*stacks = where.stacks;
}
