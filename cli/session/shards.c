// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/sort.h"
#include "cli/session/arms.h"
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

/* Removes the fact `run.shard`, which a merged run does not have. */
static void unmark(struct fg_environment *facts)
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

/*
 * Returns the first shard with a measurement, or NULL. An empty shard never looked for a baseline.
 */
static const struct fg_shard *first_measured(const struct fg_shards *shards)
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
			return fg_error_set(
				err, FG_EINVAL,
				"shard %u/%u (%s) measured the %s at commit %.12s, but shard "
				"%u/%u (%s) measured it at %.12s",
				first->index, first->count, first->from, names[arm],
				commit_of(left), shard->index, shard->count, shard->from,
				commit_of(right));
		if (left->dirty != right->dirty)
			return fg_error_set(
				err, FG_EINVAL,
				"shard %u/%u (%s) measured a work tree with changes, but shard "
				"%u/%u (%s) measured one without changes",
				left->dirty ? first->index : shard->index, shard->count,
				left->dirty ? first->from : shard->from,
				left->dirty ? shard->index : first->index, shard->count,
				left->dirty ? shard->from : first->from);
	}
	if (a->has_baseline != b->has_baseline)
		return fg_error_set(
			err, FG_EINVAL,
			"shard %u/%u (%s) measured a baseline, but shard %u/%u (%s) did not",
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
	const struct fg_shard *measured = first_measured(shards);
	const struct fg_shard *first = shards->count ? &shards->items[0] : shard;
	int status = FG_OK;

	if (first->count != shard->count)
		return fg_error_set(
			err, FG_EINVAL,
			"shard %u/%u (%s) and shard %u/%u (%s) do not belong to the same split",
			first->index, first->count, first->from, shard->index, shard->count,
			shard->from);
	if (!is_same(first->stored.run.project, shard->stored.run.project))
		return fg_error_set(
			err, FG_EINVAL,
			"%s belongs to project '%s', but %s belongs to project '%s': merge one "
			"project at a time",
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
			"%s: run %.8s is not a shard: `fastgate run --shard I/N` creates one", from,
			shard.stored.run.id);
	if (status == FG_OK)
		status = check_shard(shards, &shard, err);
	if (status != FG_OK) {
		release_shard(&shard);
		return status;
	}
	fg_report_restore_arguments(shard.stored.report, &shard.stored.run, shard.stored.profiles);
	FG_APPEND(shards->items, shards->count, shards->capacity) = shard;
	return FG_OK;
}

static bool has_shard(const struct fg_shards *shards, unsigned index)
{
	for (size_t i = 0; i < shards->count; i++) {
		if (shards->items[i].index == index)
			return true;
	}
	return false;
}

void fg_shards_release(struct fg_shards *shards)
{
	for (size_t i = 0; i < shards->count; i++)
		release_shard(&shards->items[i]);
	free(shards->items);
	*shards = (struct fg_shards){0};
}

/* ---- merging ---- */

FG_ORDER_BY(by_index, struct fg_shard, FG_UP(index))

/*
 * Keeps facts that all shards agree on. A differing fact of the fingerprint lists all its values,
 * so that a run measured on several kinds of hosts matches only runs on the same kinds; any other
 * differing fact is dropped.
 */
static void join_facts(struct fg_environment *to, const struct fg_environment *from)
{
	struct fg_fact_difference *differences = NULL;
	const size_t count = fg_environment_diff(to, from, &differences);
	struct fg_environment joined = {0};

	for (size_t i = 0; i < to->count; i++) {
		const char *other = fg_environment_get(from, to->facts[i].key);

		if (other && strcmp(other, to->facts[i].value) == 0)
			fg_environment_set(&joined, to->facts[i].key, to->facts[i].value,
					   to->facts[i].identity);
	}
	for (size_t i = 0; i < count; i++) {
		const char *left = differences[i].baseline ? differences[i].baseline : "unknown";
		const char *right = differences[i].candidate ? differences[i].candidate : "unknown";

		if (!differences[i].identity)
			continue;
		if (strstr(left, right))
			fg_environment_set(&joined, differences[i].key, left, true);
		else
			fg_environment_printf(&joined, differences[i].key, true, "%s | %s", left,
					      right);
	}
	free(differences);
	fg_environment_release(to);
	*to = joined;
}

/*
 * Makes an id that begins with the newest shard's time and ends with a digest of the shards' ids.
 */
static void make_id(const struct fg_shards *shards, const char *newest, char id[37])
{
	struct fg_sha256 sha;
	uint8_t digest[FG_SHA256_SIZE];
	char hex[2 * FG_SHA256_SIZE + 1];

	fg_sha256_init(&sha);
	for (size_t i = 0; i < shards->count; i++)
		fg_sha256_add(&sha, shards->items[i].stored.run.id, 36);
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	(void)snprintf(id, 37, "%.13s-7%.3s-8%.3s-%.12s", newest, hex, hex + 3, hex + 6);
}

static void merge_heads(const struct fg_shards *shards, struct fg_run *merged)
{
	const struct fg_shard *measured = first_measured(shards);
	const struct fg_run *first = &(measured ? measured : &shards->items[0])->stored.run;
	const struct fg_run *newest = first;

	merged->project = fg_xstrdup(first->project);
	merged->tool_version = fg_xstrdup(first->tool_version);
	merged->has_baseline = first->has_baseline;
	fg_environment_copy(&merged->host, &first->host);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_side_copy(&merged->sides[arm], &first->sides[arm]);
		unmark(&merged->sides[arm].build);
	}
	for (size_t i = 0; i < shards->count; i++) {
		const struct fg_run *run = &shards->items[i].stored.run;

		merged->seed ^= fg_hash64(&run->seed, sizeof(run->seed), i);
		if (run->started_ns > newest->started_ns)
			newest = run;
		if (run->ended_ns > merged->ended_ns)
			merged->ended_ns = run->ended_ns;
		if (run == first || run->series_count == 0)
			continue;
		join_facts(&merged->host, &run->host);
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
			join_facts(&merged->sides[arm].build, &run->sides[arm].build);
	}
	merged->seed &= (UINT64_C(1) << 53) - 1;
	/* The merged run sorts after its shards in lists ordered by time. */
	merged->started_ns = newest->started_ns + 1;
	merged->complete = true;
	make_id(shards, newest->id, merged->id);
}

/* Is this the benchmark's series, or a case of its harness? */
static bool belongs_to(const struct fg_series *series, const struct fg_benchmark *benchmark)
{
	return strcmp(series->name, benchmark->name) == 0 ||
	       fg_benchmark_case(benchmark, series->name);
}

/* Appends the series and its profile to the merged run, which owns both from now on. */
static void append(struct fg_stored_run *merged, const struct fg_series *series,
		   struct fg_profile_set *profile)
{
	struct fg_run *run = &merged->run;
	const size_t count = run->series_count + 1;

	run->series = fg_xreallocarray(run->series, count, sizeof(run->series[0]));
	merged->profiles = fg_xreallocarray(merged->profiles, count, sizeof(merged->profiles[0]));
	run->series[count - 1] = *series;
	merged->profiles[count - 1] = profile;
	run->series_count = count;
}

static void move_series(struct fg_stored_run *from, size_t index, struct fg_stored_run *merged)
{
	append(merged, &from->run.series[index], from->profiles ? from->profiles[index] : NULL);
	from->run.series[index] = (struct fg_series){0};
	if (from->profiles)
		from->profiles[index] = NULL;
}

/*
 * Moves all series of a benchmark; with NULL, all series that were not moved yet. Returns the
 * number of series moved.
 */
static size_t move_benchmark(struct fg_shards *shards, const struct fg_benchmark *benchmark,
			     struct fg_stored_run *merged)
{
	size_t moved = 0;

	for (size_t i = 0; i < shards->count; i++) {
		struct fg_stored_run *stored = &shards->items[i].stored;

		for (size_t k = 0; k < stored->run.series_count; k++) {
			const struct fg_series *series = &stored->run.series[k];

			if (!series->name || (benchmark && !belongs_to(series, benchmark)))
				continue;
			move_series(stored, k, merged);
			moved++;
		}
	}
	return moved;
}

static unsigned shard_index(const char *benchmark, unsigned count)
{
	unsigned index = 1;

	while (!fg_shard_contains(benchmark, index, count))
		index++;
	return index;
}

static const char *what_happened(const struct fg_shards *shards, unsigned index)
{
	return has_shard(shards, index) ? "was interrupted" : "is missing";
}

/*
 * Is the benchmark missing because of its shard? A complete shard lacks a benchmark only if nobody
 * requested it.
 */
static bool is_lost(const struct fg_shards *shards, const char *benchmark)
{
	for (size_t i = 0; i < shards->count; i++) {
		const struct fg_shard *shard = &shards->items[i];

		if (fg_shard_contains(benchmark, shard->index, shard->count))
			return !shard->stored.run.complete;
	}
	return true;
}

static void add_lost(const struct fg_shards *shards, const struct fg_benchmark *benchmark,
		     struct fg_stored_run *merged)
{
	const unsigned count = shards->items[0].count;
	const unsigned index = shard_index(benchmark->name, count);
	struct fg_series series = {0};

	fg_series_init(&series, benchmark->name);
	series.command = fg_xstrdup(benchmark->command.text);
	series.schedule = benchmark->measure.schedule;
	series.state = FG_NOT_MEASURED;
	series.failure = fg_xasprintf("shard %u/%u %s", index, count, what_happened(shards, index));
	append(merged, &series, NULL);
}

/* Writes "shard 2/3 is missing: scan, sort were not measured; shard 3/3 ...". */
static void report_lost(const struct fg_shards *shards, const struct fg_plan *plan,
			const bool *lost, struct fg_strbuf *line)
{
	const unsigned count = shards->items[0].count;

	for (unsigned index = 1; index <= count; index++) {
		size_t found = 0;

		for (size_t i = 0; i < plan->benchmark_count; i++) {
			const char *name = plan->benchmarks[i].name;

			if (!lost[i] || shard_index(name, count) != index)
				continue;
			if (found++ == 0)
				fg_strbuf_printf(line,
						 "%sshard %u/%u %s: ", line->length ? "; " : "",
						 index, count, what_happened(shards, index));
			fg_strbuf_printf(line, "%s%s", found > 1 ? ", " : "", name);
		}
		if (found)
			fg_strbuf_printf(line, " %s not measured", found > 1 ? "were" : "was");
	}
}

void fg_shards_merge(struct fg_shards *shards, const struct fg_plan *plan,
		     struct fg_stored_run *merged, struct fg_strbuf *missing)
{
	bool *lost = fg_xcalloc(plan->benchmark_count + 1, sizeof(lost[0]));

	FG_ASSERT(shards->count > 0);
	*merged = (struct fg_stored_run){0};
	qsort(shards->items, shards->count, sizeof(shards->items[0]), by_index);
	fg_run_init(&merged->run);
	merge_heads(shards, &merged->run);
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const struct fg_benchmark *benchmark = &plan->benchmarks[i];

		lost[i] = move_benchmark(shards, benchmark, merged) == 0 &&
			  is_lost(shards, benchmark->name);
		if (lost[i])
			add_lost(shards, benchmark, merged);
	}
	(void)move_benchmark(shards, NULL, merged);
	report_lost(shards, plan, lost, missing);
	free(lost);
}
