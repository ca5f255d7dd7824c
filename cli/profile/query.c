// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/query.h"

#include "base/number.h"
#include "profile/views/view.h"

const char *const fg_cli_time_kinds[] = {"all", "user", "system", "wall", NULL};
/* In the order of enum fg_group. */
const char *const fg_cli_groups[] = {"function", "line", "class", "namespace",
				     "library",  "file", NULL};

/* In the order of enum fg_split. */
const char *const fg_cli_splits[] = {"none", "thread",     "process", "region",
				     "unit", "repetition", NULL};

static const uint32_t time_bits[] = {
	0,
	UINT32_C(1) << FG_TIME_USER,
	UINT32_C(1) << FG_TIME_SYSTEM,
	UINT32_C(1) << FG_TIME_WALL,
};

static int parse_numbers(struct fg_cli *cli, const char *text, struct fg_calltree_query *query,
			 struct fg_error *err)
{
	const char *dash = strpbrk(text, "-:");
	const char *first =
		dash ? fg_arena_strndup(&cli->arena, text, (size_t)(dash - text)) : text;
	int status = fg_parse_uint64(first, &query->unit_first, err);

	query->unit_last = query->unit_first;
	if (status == FG_OK && dash && dash[1])
		status = fg_parse_uint64(dash + 1, &query->unit_last, err);
	else if (dash)
		query->unit_last = 0; /* "10-": open-ended */
	if (status != FG_OK)
		return status;
	if (dash && dash[1] && query->unit_last < query->unit_first)
		status = fg_error_set(err, FG_EINVAL, "'%s' ends before it begins", text);
	return status;
}

/* Accepts "event:10-20", "event", "7", "10-20" and "10:20". */
static int parse_unit(struct fg_cli *cli, const char *text, struct fg_calltree_query *query,
		      struct fg_error *err)
{
	const bool is_number = *text >= '0' && *text <= '9';
	const char *colon = is_number ? NULL : strrchr(text, ':');
	int status = FG_OK;

	query->only_units = true;
	if (colon)
		query->unit_kind =
			fg_arena_printf(&cli->arena, "^%.*s$", (int)(colon - text), text);
	else if (!is_number)
		query->unit_kind = fg_arena_printf(&cli->arena, "^%s$", text);
	if (colon || is_number)
		status = parse_numbers(cli, colon ? colon + 1 : text, query, err);
	if (status != FG_OK)
		fg_error_prefix(err, "--unit %s", text);
	return status;
}

/* A filter on something that the profile does not record would silently match nothing. */
static int check(const struct fg_cli_query_options *options, const struct fg_profile *profile,
		 struct fg_error *err)
{
	const struct fg_calltree_query *query = &options->query;
	uint16_t measure = 0;
	const int status = fg_profile_find_measure(profile, query->measure, &measure, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "--measure");
		return status;
	}
	if (options->time > 0 && !fg_measure_has_time(&profile->measures[measure].is))
		return fg_error_set(err, FG_EINVAL,
				    "--time applies to times, but this profile shows %s",
				    profile->measures[measure].is.label);
	if (query->repetition > profile->repetition_count)
		return fg_error_set(err, FG_EINVAL, "--repetition %u: the profile has only %u",
				    query->repetition, profile->repetition_count);
	if ((query->from_ns > 0 || query->to_ns > 0) && !profile->has_times)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"--from and --to need the time of each sample, which this profile does not "
			"have: " FG_VIEW_NEEDS_SAMPLES);
	if (query->to_ns > 0 && query->to_ns <= query->from_ns)
		return fg_error_set(err, FG_EINVAL, "--to must be later than --from");
	if ((options->unit || options->split == FG_SPLIT_UNIT) && profile->unit_count <= 1)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"--%s: no unit of work is known in this profile: " FG_VIEW_NEEDS_SAMPLES,
			options->unit ? "unit" : "split unit");
	if ((query->region || options->split == FG_SPLIT_REGION) &&
	    !fg_profile_knows_regions(profile))
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"--%s: this profile does not record which sample was in which region: %s",
			query->region ? "region" : "split region", FG_VIEW_NEEDS_SAMPLES);
	if (query->thread && profile->thread_count == 0)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"--%s: this profile does not distinguish threads: " FG_VIEW_NEEDS_SAMPLES,
			query->thread ? "thread" : "split thread");
	return FG_OK;
}

/* Translates the options for this profile; strings are borrowed or live in the command's arena. */
static int make_query(struct fg_cli *cli, const struct fg_cli_query_options *options,
		      const struct fg_profile *profile, struct fg_calltree_query *query,
		      struct fg_error *err)
{
	FG_TRY(check(options, profile, err));
	*query = options->query;
	query->group = (enum fg_group)options->group;
	query->split = (enum fg_split)options->split;
	query->focus = options->focus.items;
	query->ignore = options->ignore.items;
	query->hide = options->hide.items;
	query->ancestors = options->ancestors.items;
	query->rename = options->rename.items;
	query->kinds = time_bits[options->time];
	query->per_repetition =
		profile->repetition_count > 1 && !options->sum && query->repetition == 0;
	return options->unit ? parse_unit(cli, options->unit, query, err) : FG_OK;
}

/* ---- the steps of a command ---- */

const struct fg_cli_argument fg_cli_run_arguments[] = {
	{.name = "RUN", .help = FG_CLI_RUN_WORDS, .max = 1, .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

/* A NULL `words` means the newest run or recording. */
static int use_profile(struct fg_cli *cli, const struct fg_cli_profile_options *options,
		       const char *words, const struct fg_cli_profile_use *use,
		       struct fg_error *err)
{
	struct fg_calltree_query query = {0};
	struct fg_cli_run_options source = options->run;
	struct fg_profile profile;
	int status = FG_OK;

	status = fg_cli_load_profile(cli, &source, words, &profile, err);

	if (status != FG_OK)
		return status;
	status = make_query(cli, &options->query, &profile, &query, err);
	if (status == FG_OK)
		status = use->run(cli, use->context, &profile, &query, err);
	fg_profile_release(&profile);
	return status;
}

static int build(struct fg_cli *cli, void *context, const struct fg_profile *profile,
		 const struct fg_calltree_query *query, struct fg_error *err)
{
	struct fg_cli_tree *built = context;

	built->title = fg_arena_strdup(&cli->arena, profile->title ? profile->title : "");
	return fg_calltree_build(profile, query, &built->tree, err);
}

int fg_cli_build_tree(struct fg_cli *cli, const struct fg_cli_profile_options *options,
		      const char *word, struct fg_cli_tree *built, struct fg_error *err)
{
	return use_profile(cli, options, word, &(struct fg_cli_profile_use){build, built}, err);
}

/* CPU time and wall-clock time share a unit; bytes and calls do not. */
static int check_same_unit(const struct fg_measure *before, const struct fg_measure *after,
			   struct fg_error *err)
{
	if (strcmp(before->unit, after->unit) == 0)
		return FG_OK;
	return fg_error_set(
		err, FG_EINVAL,
		"the first profile shows %s and the second shows %s: give --measure with a "
		"measure that both profiles have",
		before->name, after->name);
}

int fg_cli_build_difference(struct fg_cli *cli, const struct fg_cli_profile_options *options,
			    const char *const words[2], struct fg_cli_difference *difference,
			    struct fg_error *err)
{
	struct fg_cli_tree built[2] = {0};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(built) && status == FG_OK; i++)
		status = fg_cli_build_tree(cli, options, words[i], &built[i], err);
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(check_same_unit(&built[0].tree.measure, &built[1].tree.measure, err));
	fg_calltree_difference(&built[0].tree, &built[1].tree, &difference->tree);
	difference->titles[0] = built[0].title;
	difference->titles[1] = built[1].title;
out:
	fg_calltree_release(&built[0].tree);
	fg_calltree_release(&built[1].tree);
	return status;
}

int fg_cli_end(const struct fg_cli *cli, int status, const struct fg_error *err)
{
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, err);
}

int fg_cli_run_on_profile(struct fg_cli *cli, const struct fg_cli_profile_options *options,
			  const struct fg_cli_profile_use *use)
{
	struct fg_error err = {0};

	return fg_cli_end(cli, use_profile(cli, options, cli->arguments[0], use, &err), &err);
}
