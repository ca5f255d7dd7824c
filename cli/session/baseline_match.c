// SPDX-License-Identifier: Apache-2.0
#include "cli/session/baseline_match.h"

#include "base/fs.h"
#include "base/text.h"
#include "config/config.h"
#include "runner/target.h"

static bool load(struct fg_match *match, const struct fg_plan *plan, const char *root)
{
	const char *name =
		plan->config_path ? fg_fs_base_name(plan->config_path) : FG_CONFIG_FILE_NAME;
	char *path = fg_fs_join(root, name);
	const struct fg_config_source source = {.path = path};
	struct fg_config_report report = {0};

	match->has_baseline = fg_config_load(&source, &match->baseline, &report, NULL) == FG_OK;
	fg_config_report_release(&report);
	free(path);
	return match->has_baseline;
}

static const struct fg_benchmark *find_old(const struct fg_match *match,
					   const struct fg_benchmark *benchmark)
{
	const struct fg_benchmark *old = fg_plan_find(&match->baseline, benchmark->name);

	if (!old && benchmark->was)
		old = fg_plan_find(&match->baseline, benchmark->was);
	return old;
}

static bool has_program(const struct fg_benchmark *benchmark, const char *root)
{
	struct fg_target target;
	bool found = false;

	fg_target_init(&target, FG_ARM_BASELINE, benchmark, root);
	fg_target_resolve(&target);
	found = target.program != NULL;
	fg_target_release(&target);
	return found;
}

/*
 * A comparison needs the same work on both sides, so our command is preferred if the baseline can
 * run it.
 */
static void choose_command(const struct fg_match *match, struct fg_benchmark *benchmark,
			   const char *root)
{
	const struct fg_benchmark *old = find_old(match, benchmark);
	const bool is_given = benchmark->baseline_command.argc > 0;

	if (old && !is_given && !has_program(benchmark, root))
		benchmark->baseline_command = old->command;
}

static bool is_known(const struct fg_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const char *was = plan->benchmarks[i].was;

		if (strcmp(plan->benchmarks[i].name, name) == 0 || (was && strcmp(was, name) == 0))
			return true;
	}
	return false;
}

void fg_match_commit(struct fg_match *match, struct fg_plan *plan, const char *root)
{
	*match = (struct fg_match){0};
	if (!load(match, plan, root))
		return;
	for (size_t i = 0; i < plan->benchmark_count; i++)
		choose_command(match, &plan->benchmarks[i], root);
	match->gone = fg_arena_array(&match->baseline.arena, match->baseline.benchmark_count + 1,
				     sizeof(match->gone[0]));
	for (size_t i = 0; i < match->baseline.benchmark_count; i++) {
		const char *name = match->baseline.benchmarks[i].name;

		if (!is_known(plan, name))
			match->gone[match->gone_count++] = name;
	}
}

void fg_match_release(struct fg_match *match)
{
	if (match->has_baseline)
		fg_plan_release(&match->baseline);
	*match = (struct fg_match){0};
}

/* "old" becomes "new"; the case "old/BM_sort" of a harness becomes "new/BM_sort". */
static void rename_series(struct fg_series *series, const struct fg_benchmark *benchmark)
{
	const size_t length = strlen(benchmark->was);
	const char *rest = series->name + length;
	char *name = NULL;

	if (!fg_text_starts_with(series->name, benchmark->was) || (*rest && *rest != '/'))
		return;
	name = fg_xasprintf("%s%s", benchmark->name, rest);
	free(series->name);
	series->name = name;
}

void fg_match_stored(const struct fg_plan *plan, struct fg_run *run)
{
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const struct fg_benchmark *benchmark = &plan->benchmarks[i];

		if (!benchmark->was || fg_run_find(run, benchmark->name))
			continue;
		for (size_t k = 0; k < run->series_count; k++)
			rename_series(&run->series[k], benchmark);
	}
}
