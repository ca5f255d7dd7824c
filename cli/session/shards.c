// SPDX-License-Identifier: Apache-2.0
#include "cli/session/shards.h"

#include "reporters/reporter.h"
#include "runner/runner.h"

static const char shard_key[] = "run.shard";

void fg_shard_mark(struct fg_run *run, unsigned index, unsigned count)
{
	fg_environment_printf(&run->sides[FG_ARM_CANDIDATE].build, shard_key, false, "%u/%u", index,
			      count);
}

bool fg_shard_of(const struct fg_run *run, unsigned *index, unsigned *count)
{
	const char *text = fg_environment_get(&run->sides[FG_ARM_CANDIDATE].build, shard_key);

	return text && fg_shard_parse(text, index, count, NULL) == FG_OK;
}

/* A merged run does not have the fact `run.shard`. */
void fg_shard_unmark(struct fg_environment *facts)
{
	struct fg_environment kept = {0};

	for (size_t i = 0; i < facts->count; i++) {
		if (strcmp(facts->facts[i].key, shard_key) != 0)
			fg_environment_set(&kept, facts->facts[i].key, facts->facts[i].value,
					   facts->facts[i].identity);
	}
	fg_environment_release(facts);
	*facts = kept;
}

/* ---- grouping ---- */

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *commit_of(const struct fg_side *side)
{
	return side->commit ? side->commit : "unknown";
}

const struct fg_shard *fg_shards_first_measured(const struct fg_shards *shards)
{
	for (size_t i = 0; i < shards->count; i++) {
		if (shards->items[i].stored.run.series_count > 0)
			return &shards->items[i];
	}
	return NULL;
}

static int check_sides(const struct fg_shard *first, const struct fg_shard *shard,
		       struct fg_error *err)
{
	const struct fg_run *a = &first->stored.run;
	const struct fg_run *b = &shard->stored.run;
	static const char *const names[FG_ARM_COUNT] = {"baseline", "candidate"};

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_side *left = &a->sides[arm];
		const struct fg_side *right = &b->sides[arm];

		if (!is_same(left->commit, right->commit))
			return fg_error_set(err, FG_EINVAL,
					    "shard %u/%u (%s) measured the %s at commit %.12s, "
					    "shard %u/%u (%s) at %.12s",
					    first->index, first->count, first->from, names[arm],
					    commit_of(left), shard->index, shard->count,
					    shard->from, commit_of(right));
		if (left->dirty != right->dirty)
			return fg_error_set(err, FG_EINVAL,
					    "shard %u/%u (%s) measured a work tree with changes, "
					    "shard %u/%u (%s) one without",
					    left->dirty ? first->index : shard->index, shard->count,
					    left->dirty ? first->from : shard->from,
					    left->dirty ? shard->index : first->index, shard->count,
					    left->dirty ? shard->from : first->from);
	}
	if (a->has_baseline != b->has_baseline)
		return fg_error_set(
			err, FG_EINVAL,
			"shard %u/%u (%s) measured a baseline, shard %u/%u (%s) did not",
			a->has_baseline ? first->index : shard->index, shard->count,
			a->has_baseline ? first->from : shard->from,
			a->has_baseline ? shard->index : first->index, shard->count,
			a->has_baseline ? shard->from : first->from);
	return FG_OK;
}

static int check_series(const struct fg_shard *other, const struct fg_shard *shard,
			struct fg_error *err)
{
	for (size_t i = 0; i < shard->stored.run.series_count; i++) {
		const char *name = shard->stored.run.series[i].name;

		if (fg_run_find(&other->stored.run, name))
			return fg_error_set(
				err, FG_EINVAL,
				"benchmark '%s' is in shard %u/%u (%s) and in shard %u/%u (%s)",
				name, other->index, other->count, other->from, shard->index,
				shard->count, shard->from);
	}
	return FG_OK;
}

static int check_shard(const struct fg_shards *shards, const struct fg_shard *shard,
		       struct fg_error *err)
{
	const struct fg_shard *measured = fg_shards_first_measured(shards);
	const struct fg_shard *first = shards->count ? &shards->items[0] : shard;
	int status = FG_OK;

	if (first->count != shard->count)
		return fg_error_set(
			err, FG_EINVAL,
			"shard %u/%u (%s) and shard %u/%u (%s) are not parts of one split",
			first->index, first->count, first->from, shard->index, shard->count,
			shard->from);
	if (!is_same(first->stored.run.project, shard->stored.run.project))
		return fg_error_set(err, FG_EINVAL,
				    "%s is of project '%s', %s of project '%s': one gate has one",
				    first->from, first->stored.run.project, shard->from,
				    shard->stored.run.project);
	for (size_t i = 0; i < shards->count; i++) {
		const struct fg_shard *other = &shards->items[i];

		if (other->index == shard->index)
			return fg_error_set(err, FG_EINVAL,
					    "shard %u/%u is given twice: run %.8s (%s) and run "
					    "%.8s (%s); leave one out",
					    shard->index, shard->count, other->stored.run.id,
					    other->from, shard->stored.run.id, shard->from);
	}
	if (measured && shard->stored.run.series_count > 0)
		status = check_sides(measured, shard, err);
	for (size_t i = 0; i < shards->count && status == FG_OK; i++)
		status = check_series(&shards->items[i], shard, err);
	return status;
}

static void release_shard(struct fg_shard *shard)
{
	fg_stored_run_release(&shard->stored);
	free(shard->from);
}

int fg_shards_add(struct fg_shards *shards, struct fg_stored_run *stored, const char *from,
		  struct fg_error *err)
{
	struct fg_shard shard = {.stored = *stored, .from = fg_xstrdup(from)};
	int status = FG_OK;

	*stored = (struct fg_stored_run){0};
	if (!fg_shard_of(&shard.stored.run, &shard.index, &shard.count))
		status = fg_error_set(
			err, FG_EINVAL,
			"%s: run %.8s is not a shard: `fastgate run --shard I/N` makes one", from,
			shard.stored.run.id);
	if (status == FG_OK)
		status = check_shard(shards, &shard, err);
	if (status != FG_OK) {
		release_shard(&shard);
		return status;
	}
	fg_report_restore_arguments(shard.stored.report, &shard.stored.run, shard.stored.profiles);
	shards->items = fg_grow(shards->items, &shards->capacity, shards->count + 1,
				sizeof(shards->items[0]));
	shards->items[shards->count++] = shard;
	return FG_OK;
}

/* ---- from a store ---- */

static bool has_shard(const struct fg_shards *shards, size_t from, unsigned index)
{
	for (size_t i = from; i < shards->count; i++) {
		if (shards->items[i].index == index)
			return true;
	}
	return false;
}

static bool is_same_split(const struct fg_run *newest, const struct fg_run *run)
{
	unsigned counts[2] = {0, 0};
	unsigned index = 0;
	const bool both = fg_shard_of(newest, &index, &counts[0]) &&
			  fg_shard_of(run, &index, &counts[1]) && counts[0] == counts[1];

	/* Without a baseline's commit, a shard may have had nothing to measure. */
	return both &&
	       is_same(newest->sides[FG_ARM_CANDIDATE].commit,
		       run->sides[FG_ARM_CANDIDATE].commit) &&
	       newest->sides[FG_ARM_CANDIDATE].dirty == run->sides[FG_ARM_CANDIDATE].dirty &&
	       (!newest->sides[FG_ARM_BASELINE].commit || !run->sides[FG_ARM_BASELINE].commit ||
		is_same(newest->sides[FG_ARM_BASELINE].commit, run->sides[FG_ARM_BASELINE].commit));
}

/* Takes one run of the list if it belongs to the split and its shard is still missing. */
static int consider(struct fg_shards *shards, size_t first, struct fg_store *store, const char *id,
		    const char *from, struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	unsigned index = 0;
	unsigned count = 0;
	int status = fg_store_load_run(store, id, &stored, err);
	bool wanted = false;

	if (status != FG_OK)
		return status;
	wanted = fg_shard_of(&stored.run, &index, &count) && !has_shard(shards, first, index) &&
		 (shards->count == first ||
		  is_same_split(&shards->items[first].stored.run, &stored.run));
	fg_stored_run_release(&stored);
	if (!wanted)
		return FG_OK;
	status = fg_store_load(store, id, &stored, err);
	return status == FG_OK ? fg_shards_add(shards, &stored, from, err) : status;
}

int fg_shards_add_store(struct fg_shards *shards, struct fg_store *store, const char *project,
			const char *from, struct fg_error *err)
{
	const struct fg_run_filter filter = {
		.project = project, .fact_key = shard_key, .limit = 1000};
	const size_t first = shards->count;
	struct fg_run_list list = {0};
	int status = fg_store_list(store, &filter, &list, err);

	for (size_t i = 0; i < list.count && status == FG_OK; i++)
		status = consider(shards, first, store, list.items[i].id, from, err);
	fg_run_list_release(&list);
	if (status != FG_OK)
		return status;
	if (shards->count == first)
		status = fg_error_set(
			err, FG_ENOENT,
			"%s holds no shard of project '%s': `fastgate run --shard I/N` makes them",
			from, project);
	return status;
}

void fg_shards_release(struct fg_shards *shards)
{
	for (size_t i = 0; i < shards->count; i++)
		release_shard(&shards->items[i]);
	free(shards->items);
	*shards = (struct fg_shards){0};
}
