// SPDX-License-Identifier: Apache-2.0
/* Several shards as one run. */
#include "cli/session/shards_merge.h"

#include "base/hash.h"
#include "base/text.h"
#include "runner/runner.h"

static int by_index(const void *a, const void *b)
{
	const struct fg_shard *left = a;
	const struct fg_shard *right = b;

	return (left->index > right->index) - (left->index < right->index);
}

/*
 * Facts that all shards agree on stay. A fact of the fingerprint that differs lists all its values,
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
 * Sorts by time like every id, right after the newest shard; the rest is a digest of the shards'
 * ids.
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
	const struct fg_shard *measured = fg_shards_first_measured(shards);
	const struct fg_run *first = &(measured ? measured : &shards->items[0])->stored.run;
	const struct fg_run *newest = first;

	merged->project = fg_xstrdup(first->project);
	merged->tool_version = fg_xstrdup(first->tool_version);
	merged->has_baseline = first->has_baseline;
	fg_environment_copy(&merged->host, &first->host);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_side_copy(&merged->sides[arm], &first->sides[arm]);
		fg_shard_unmark(&merged->sides[arm].build);
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
	/* The merged run sorts after its parts in lists ordered by time. */
	merged->started_ns = newest->started_ns + 1;
	merged->complete = true;
	make_id(shards, newest->id, merged->id);
}

/* Is it this benchmark, or a case of its harness? */
static bool belongs_to(const struct fg_series *series, const struct fg_benchmark *benchmark)
{
	const size_t length = strlen(benchmark->name);

	return fg_text_starts_with(series->name, benchmark->name) &&
	       (!series->name[length] ||
		(benchmark->harness != FG_HARNESS_NONE && series->name[length] == '/'));
}

/* Takes ownership of both. */
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
 * Moves all series of a benchmark, or if it is NULL, those that the plan does not know. Returns how
 * many.
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

static bool has_shard(const struct fg_shards *shards, unsigned index)
{
	for (size_t i = 0; i < shards->count; i++) {
		if (shards->items[i].index == index)
			return true;
	}
	return false;
}

static const char *what_happened(const struct fg_shards *shards, unsigned index)
{
	return has_shard(shards, index) ? "was interrupted" : "is missing";
}

/* If the shard is complete, a benchmark is missing because it was not requested. */
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

/* "shard 2/3 is missing: scan, sort were not measured; shard 3/3 ..." */
static void tell_lost(const struct fg_shards *shards, const struct fg_plan *plan, const bool *lost,
		      struct fg_strbuf *line)
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
	tell_lost(shards, plan, lost, missing);
	free(lost);
}
