// SPDX-License-Identifier: Apache-2.0
/*
 * Reads report.json back into a verdict. The store keeps a verdict as this text, and every other
 * report can be regenerated from it byte for byte. The text may come over a network: a member of
 * the wrong type counts as missing, and only the number of existing elements determines a length.
 */
#include "base/clock.h"
#include "base/json.h"
#include "reporters/arguments.h"
#include "reporters/blame_keys.h"
#include "reporters/reporter.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	MAX_REPORT_BYTES = 256 * 1024 * 1024
};

struct reader {
	struct fg_arena *arena;
	struct fg_argument_room *room; /* shared by the arguments of all benchmarks */
};

/* The element type of a list (function or call path) and its keys. */
struct subject {
	const struct fg_blame_keys *keys;
	const char *measure;
	const char *unit;
};

static const char *get_text(const struct reader *r, const cJSON *object, const char *name)
{
	return fg_arena_strdup(r->arena, fg_json_text_or(object, name, NULL));
}

/* Returns the text of a member that every report has; never NULL, so callers need no check. */
static const char *need_text(const struct reader *r, const cJSON *object, const char *name)
{
	const char *text = get_text(r, object, name);

	return text ? text : "";
}

static double get_number(const cJSON *object, const char *name)
{
	return fg_json_double_or(object, name, (double)NAN);
}

static uint64_t get_count(const cJSON *object, const char *name, uint64_t most)
{
	const double value = fg_json_double_or(object, name, 0);

	return value >= 0 && value <= (double)most ? (uint64_t)value : 0;
}

static bool get_flag(const cJSON *object, const char *name)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static enum fg_outcome get_outcome(const cJSON *object)
{
	enum fg_outcome outcome = FG_OUTCOME_ERROR;

	(void)fg_outcome_parse(fg_json_text_or(object, "verdict", ""), &outcome);
	return outcome;
}

/* The first element and the number of elements; NULL and 0 if there is no such array. */
static const cJSON *get_elements(const cJSON *object, const char *name, size_t *count)
{
	const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, name);

	*count = 0;
	if (!cJSON_IsArray(array))
		return NULL;
	for (const cJSON *item = array->child; item; item = item->next)
		(*count)++;
	return array->child;
}

static void get_range(const cJSON *object, const char *name, double *low, double *high)
{
	size_t count = 0;
	const cJSON *first = get_elements(object, name, &count);

	*low = count == 2 && cJSON_IsNumber(first) ? first->valuedouble : (double)NAN;
	*high = count == 2 && cJSON_IsNumber(first->next) ? first->next->valuedouble : (double)NAN;
}

static void read_notes(const struct reader *r, const cJSON *object, struct fg_notes *notes)
{
	size_t count = 0;
	const cJSON *item = get_elements(object, "notes", &count);

	for (; item; item = item->next) {
		if (cJSON_IsString(item))
			fg_notes_add(notes, r->arena, "%s", item->valuestring);
	}
}

static const struct fg_accept *read_accept(const struct reader *r, const cJSON *object)
{
	struct fg_accept *accept = NULL;
	const char *until = NULL;

	if (!cJSON_IsObject(object))
		return NULL;
	accept = fg_arena_alloc(r->arena, sizeof(*accept));
	until = fg_json_text_or(object, "until", NULL);
	accept->up_to = get_number(object, "up_to");
	accept->reason = get_text(r, object, "reason");
	accept->source = get_text(r, object, "source");
	if (!until || !fg_time_parse_utc(until, &accept->until_ns))
		accept->until_ns = INT64_MAX;
	return accept;
}

static void read_metric(const struct reader *r, const cJSON *object,
			struct fg_metric_verdict *metric)
{
	metric->name = need_text(r, object, "name");
	metric->label = get_text(r, object, "label");
	if (!metric->label)
		metric->label = metric->name;
	metric->unit = need_text(r, object, "unit");
	metric->better = strcmp(fg_json_text_or(object, "better", ""), "higher") == 0
				 ? FG_BETTER_HIGHER
				 : FG_BETTER_LOWER;
	metric->outcome = get_outcome(object);
	metric->gated = get_flag(object, "gated");
	metric->decided = get_flag(object, "decided");
	metric->exact = get_flag(object, "exact");
	metric->baseline = get_number(object, "baseline");
	metric->candidate = get_number(object, "candidate");
	metric->ratio = get_number(object, "ratio");
	get_range(object, "interval", &metric->low, &metric->high);
	get_range(object, "step", &metric->step, &metric->step_error);
	metric->alpha = get_number(object, "alpha");
	metric->min_effect = get_number(object, "min_effect");
	metric->margin = get_number(object, "margin");
	metric->smallest_detectable = get_number(object, "smallest_detectable");
	metric->p_value = get_number(object, "p_value");
	metric->pairs = (unsigned)get_count(object, "pairs", UINT32_MAX);
	metric->looks = (unsigned)get_count(object, "looks", UINT32_MAX);
	metric->accepted = read_accept(r, cJSON_GetObjectItemCaseSensitive(object, "accepted"));
	read_notes(r, object, &metric->notes);
}

static void read_path(const struct reader *r, const struct subject *subject, const cJSON *object,
		      struct fg_path_verdict *path)
{
	const cJSON *frame = get_elements(object, "frames", &path->frame_count);

	path->frames = fg_arena_array(r->arena, path->frame_count, sizeof(path->frames[0]));
	for (size_t i = 0; i < path->frame_count; i++, frame = frame->next)
		path->frames[i] =
			fg_arena_strdup(r->arena, cJSON_IsString(frame) ? frame->valuestring : "");
	path->outcome = get_outcome(object);
	path->delta = get_number(object, subject->keys->delta);
	get_range(object, subject->keys->interval, &path->low, &path->high);
	path->p_adjusted = get_number(object, "p_adjusted");
}

/* Moved cost is written as "moved", which is not an outcome: it neither failed nor improved. */
static void read_standing(const cJSON *object, struct fg_node_verdict *node)
{
	node->standing = FG_STANDING_NOT_SURE;
	(void)fg_standing_parse(fg_json_text_or(object, "standing", ""), &node->standing);
	node->outcome = node->standing == FG_STANDING_MOVED ? FG_OUTCOME_PASS : get_outcome(object);
}

static void read_source_row(const struct reader *r, const cJSON *object, struct fg_source_row *row)
{
	size_t count = 0;
	const cJSON *line = get_elements(object, "lines", &count);

	for (size_t side = 0; side < 2 && side < count; side++, line = line->next)
		row->line[side] = line->valuedouble >= 1 && line->valuedouble <= UINT32_MAX
					  ? (unsigned)line->valuedouble
					  : 0;
	get_range(object, "cost_ms", &row->cost[0], &row->cost[1]);
	row->text = need_text(r, object, "text");
}

/* Returns NULL unless the report has a listing with rows. */
static const struct fg_source_listing *read_listing(const struct reader *r, const cJSON *object)
{
	struct fg_source_listing *source = NULL;
	const cJSON *item = NULL;
	size_t count = 0;

	if (!cJSON_IsObject(object))
		return NULL;
	source = fg_arena_alloc(r->arena, sizeof(*source));
	source->file = need_text(r, object, "file");
	item = get_elements(object, "known", &count);
	for (size_t side = 0; side < 2 && side < count; side++, item = item->next)
		source->has_side[side] = cJSON_IsTrue(item);
	item = get_elements(object, "rows", &source->row_count);
	source->row_count = fg_min_size(source->row_count, FG_SOURCE_ROWS_MAX);
	source->rows = fg_arena_array(r->arena, source->row_count, sizeof(source->rows[0]));
	for (size_t i = 0; i < source->row_count; i++, item = item->next)
		read_source_row(r, item, &source->rows[i]);
	source->hottest = (size_t)get_count(object, "hottest", FG_SOURCE_ROWS_MAX);
	if (source->hottest >= source->row_count)
		source->hottest = 0;
	return source->row_count > 0 ? source : NULL;
}

static const struct fg_mechanism *read_mechanism(const struct reader *r, const cJSON *parent)
{
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(parent, "mechanism");
	struct fg_mechanism mechanism = {0};

	if (!fg_mechanism_parse(fg_json_text_or(object, "kind", ""), &mechanism.kind))
		return NULL;
	mechanism.words = need_text(r, object, "words");
	get_range(object, "counts", &mechanism.counts[0], &mechanism.counts[1]);
	mechanism.explains = get_number(object, "explains");
	return fg_arena_memdup(r->arena, &mechanism, sizeof(mechanism));
}

static void read_node(const struct reader *r, const struct subject *subject, const cJSON *object,
		      enum fg_node_kind kind, struct fg_node_verdict *node)
{
	const struct fg_blame_keys *keys = subject->keys;
	const cJSON *path = get_elements(object, "paths", &node->path_count);

	node->kind = kind;
	node->measure = subject->measure;
	node->unit = subject->unit;
	node->name = need_text(r, object, "name");
	node->library = get_text(r, object, "library");
	node->file = get_text(r, object, "file");
	node->line = (unsigned)get_count(object, "line", UINT32_MAX);
	read_standing(object, node);
	get_range(object, keys->self, &node->self[0], &node->self[1]);
	get_range(object, keys->inclusive, &node->inclusive[0], &node->inclusive[1]);
	node->delta = get_number(object, keys->delta);
	get_range(object, keys->interval, &node->low, &node->high);
	node->share_of_change = get_number(object, "share_of_change");
	node->p_adjusted = get_number(object, "p_adjusted");
	node->samples = get_count(object, "samples", UINT64_C(1) << 53);
	node->paths = fg_arena_array(r->arena, node->path_count, sizeof(node->paths[0]));
	for (size_t i = 0; i < node->path_count; i++, path = path->next)
		read_path(r, subject, path, &node->paths[i]);
	node->source = read_listing(r, cJSON_GetObjectItemCaseSensitive(object, "source"));
	node->assembly = read_listing(r, cJSON_GetObjectItemCaseSensitive(object, "assembly"));
	node->mechanism = read_mechanism(r, object);
}

static struct fg_node_verdict *read_nodes(const struct reader *r, const struct subject *subject,
					  const cJSON *object, enum fg_node_kind kind,
					  size_t *count)
{
	static const char *const names[] = {
		[FG_NODE_FUNCTION] = "functions",
		[FG_NODE_LIBRARY] = "libraries",
		[FG_NODE_REGION] = "regions",
	};
	const cJSON *item = get_elements(object, names[kind], count);
	struct fg_node_verdict *nodes = fg_arena_array(r->arena, *count, sizeof(nodes[0]));

	for (size_t i = 0; i < *count; i++, item = item->next)
		read_node(r, subject, item, kind, &nodes[i]);
	return nodes;
}

static void read_moved(const struct reader *r, const struct subject *subject, const cJSON *object,
		       struct fg_blame *blame)
{
	const cJSON *item = get_elements(object, "moved", &blame->moved_count);

	blame->moved = fg_arena_array(r->arena, blame->moved_count, sizeof(blame->moved[0]));
	for (size_t i = 0; i < blame->moved_count; i++, item = item->next) {
		struct fg_moved *moved = &blame->moved[i];

		moved->measure = subject->measure;
		moved->unit = subject->unit;
		moved->kind = need_text(r, item, "kind");
		moved->from = need_text(r, item, "from");
		moved->to = need_text(r, item, "to");
		moved->from_library = get_text(r, item, "from_library");
		moved->to_library = get_text(r, item, "to_library");
		moved->ancestor = get_text(r, item, "ancestor");
		moved->amount = get_number(item, subject->keys->moved);
	}
}

static void read_blame(const struct reader *r, const struct subject *subject, const cJSON *object,
		       struct fg_blame *blame)
{
	const struct fg_blame_keys *keys = subject->keys;

	blame->measure = subject->measure;
	blame->unit = subject->unit;
	blame->functions = read_nodes(r, subject, object, FG_NODE_FUNCTION, &blame->function_count);
	blame->libraries = read_nodes(r, subject, object, FG_NODE_LIBRARY, &blame->library_count);
	blame->regions = read_nodes(r, subject, object, FG_NODE_REGION, &blame->region_count);
	read_moved(r, subject, object, blame);
	blame->functions_tested = (size_t)get_count(object, "functions_tested", UINT32_MAX);
	blame->total_delta = get_number(object, keys->total_delta);
	blame->unattributed = get_number(object, keys->unattributed);
	blame->everything_else = get_number(object, keys->everything_else);
}

/* A report without functions does not name the measure; it is CPU time. */
static void read_time(const struct reader *r, const cJSON *object, struct fg_blame *blame)
{
	size_t count = 0;
	const cJSON *first = get_elements(object, "functions", &count);
	const char *measure = first ? get_text(r, first, "measure") : NULL;
	const struct subject subject = {
		.keys = &fg_time_keys, .measure = measure ? measure : "cpu_time", .unit = "ms"};

	read_blame(r, &subject, object, blame);
	blame->label = "CPU time";
}

static void read_measure(const struct reader *r, const cJSON *object, struct fg_blame *blame)
{
	const struct subject subject = {.keys = &fg_measure_keys,
					.measure = need_text(r, object, "measure"),
					.unit = need_text(r, object, "unit")};

	read_blame(r, &subject, object, blame);
	blame->label = get_text(r, object, "label");
	if (!blame->label)
		blame->label = blame->measure;
	blame->exact = get_flag(object, "exact");
}

static void read_measures(const struct reader *r, const cJSON *object,
			  struct fg_benchmark_verdict *benchmark)
{
	const cJSON *item = get_elements(object, "measures", &benchmark->measure_count);

	benchmark->measures =
		fg_arena_array(r->arena, benchmark->measure_count, sizeof(benchmark->measures[0]));
	for (size_t i = 0; i < benchmark->measure_count; i++, item = item->next)
		read_measure(r, item, &benchmark->measures[i]);
}

static double number_or_zero(const cJSON *object, const char *name)
{
	const double value = get_number(object, name);

	return isnan(value) ? 0 : value;
}

static void copy_words(char *to, size_t size, const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	(void)snprintf(to, size, "%s", cJSON_IsString(item) ? item->valuestring : "");
}

static void read_sampling(const cJSON *object, struct fg_sampling *sampling)
{
	*sampling = (struct fg_sampling){
		.rate_hz = number_or_zero(object, "rate_hz"),
		.budget = number_or_zero(object, "budget"),
		.signal_ns = number_or_zero(object, "signal_ns"),
		.handler_ns = number_or_zero(object, "handler_ns"),
		.switch_ns = number_or_zero(object, "switch_ns"),
		.switches_hz = number_or_zero(object, "switches_hz"),
		.expected_cost = get_number(object, "expected_cost"),
	};
	copy_words(sampling->clock, sizeof(sampling->clock), object, "clock");
	copy_words(sampling->unseen, sizeof(sampling->unseen), object, "unseen");
}

static void get_both(const cJSON *object, const char *name, double values[2])
{
	size_t count = 0;
	const cJSON *item = get_elements(object, name, &count);

	for (size_t i = 0; i < 2; i++) {
		values[i] = item && cJSON_IsNumber(item) ? item->valuedouble : 0;
		item = item ? item->next : NULL;
	}
}

static void read_work(const struct reader *r, const cJSON *benchmark,
		      struct fg_benchmark_verdict *verdict)
{
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(benchmark, "work");
	const struct fg_mechanism *mechanism = NULL;
	struct fg_work_verdict work = {0};

	if (!fg_work_parse(fg_json_text_or(object, "kind", ""), &work.kind))
		return;
	get_both(object, "instructions", work.instructions);
	get_both(object, "calls", work.calls);
	get_both(object, "linker_instructions", work.linker);
	work.function = get_text(r, object, "function");
	work.leaf = get_text(r, object, "leaf");
	mechanism = read_mechanism(r, object);
	if (mechanism)
		work.mechanism = *mechanism;
	get_both(object, "function_instructions", work.function_instructions);
	get_both(object, "function_calls", work.function_calls);
	verdict->work = fg_arena_memdup(r->arena, &work, sizeof(work));
}

static void read_creep(const struct reader *r, const cJSON *benchmark,
		       struct fg_benchmark_verdict *verdict)
{
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(benchmark, "creep");
	struct fg_creep_verdict creep = {0};
	const cJSON *item = NULL;

	if (!cJSON_IsObject(object))
		return;
	creep.sentence = need_text(r, object, "sentence");
	creep.metric = need_text(r, object, "metric");
	creep.label = need_text(r, object, "label");
	creep.is_creep = get_flag(object, "is_creep");
	creep.change = get_number(object, "change");
	get_range(object, "interval", &creep.low, &creep.high);
	creep.largest = get_number(object, "largest_step");
	creep.commits = (unsigned)get_count(object, "commits", UINT32_MAX);
	creep.since = need_text(r, object, "since");
	item = get_elements(object, "by", &creep.by_count);
	creep.by = fg_arena_array(r->arena, creep.by_count, sizeof(creep.by[0]));
	for (size_t i = 0; i < creep.by_count; i++, item = item->next)
		creep.by[i] = (struct fg_creep_commit){
			.id = need_text(r, item, "commit"),
			.change = get_number(item, "change"),
			.probability = get_number(item, "probability"),
		};
	item = get_elements(object, "functions", &creep.function_count);
	creep.functions =
		fg_arena_array(r->arena, creep.function_count, sizeof(creep.functions[0]));
	for (size_t i = 0; i < creep.function_count; i++, item = item->next)
		creep.functions[i] = (struct fg_creep_function){
			.name = need_text(r, item, "name"),
			.library = get_text(r, item, "library"),
			.change = get_number(item, "change"),
		};
	verdict->creep = fg_arena_memdup(r->arena, &creep, sizeof(creep));
}

/*
 * Reads the probability, which belongs to the headline's metric; the rest of the answer is made
 * anew.
 */
static void read_answer(const cJSON *object, struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);
	const cJSON *probability = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(object, "answer"), "probability");
	struct fg_metric_verdict *metric = NULL;

	if (!headline || !cJSON_IsObject(probability))
		return;
	metric = &benchmark->metrics[headline - benchmark->metrics];
	metric->probability.is_known = true;
	metric->probability.slower = get_number(probability, "slower");
	metric->probability.beyond = get_number(probability, "beyond_min_effect");
}

static void read_benchmark(const struct reader *r, const cJSON *object,
			   struct fg_benchmark_verdict *benchmark)
{
	const cJSON *metric = get_elements(object, "metrics", &benchmark->metric_count);

	benchmark->name = need_text(r, object, "name");
	benchmark->outcome = get_outcome(object);
	(void)fg_schedule_parse(fg_json_text_or(object, "schedule", ""), &benchmark->schedule);
	benchmark->pairs = (unsigned)get_count(object, "pairs", UINT32_MAX);
	benchmark->set_aside = (unsigned)get_count(object, "set_aside", UINT32_MAX);
	benchmark->seconds = fg_json_double_or(object, "seconds", 0);
	benchmark->identical = get_flag(object, "identical");
	benchmark->unaffected = get_flag(object, "unaffected");
	benchmark->error = get_text(r, object, "error");
	benchmark->error_tail = get_text(r, object, "error_tail");
	benchmark->only_changed = get_text(r, object, "only_changed");
	benchmark->metrics =
		fg_arena_array(r->arena, benchmark->metric_count, sizeof(benchmark->metrics[0]));
	for (size_t i = 0; i < benchmark->metric_count; i++, metric = metric->next)
		read_metric(r, metric, &benchmark->metrics[i]);
	read_answer(object, benchmark);
	read_time(r, object, &benchmark->time);
	read_measures(r, object, benchmark);
	read_work(r, object, benchmark);
	read_creep(r, object, benchmark);
	benchmark->arguments = fg_report_read_arguments(
		cJSON_GetObjectItemCaseSensitive(object, "arguments"), r->room, r->arena);
	benchmark->sampler_cost = get_number(object, "sampler_cost");
	read_sampling(cJSON_GetObjectItemCaseSensitive(object, "sampling"), &benchmark->sampling);
	read_notes(r, object, &benchmark->notes);
}

static void read_differences(const struct reader *r, const cJSON *object,
			     struct fg_verdict *verdict)
{
	const cJSON *item = get_elements(object, "environment_difference",
					 &verdict->environment_difference_count);

	verdict->environment_difference =
		fg_arena_array(r->arena, verdict->environment_difference_count,
			       sizeof(verdict->environment_difference[0]));
	for (size_t i = 0; i < verdict->environment_difference_count; i++, item = item->next) {
		struct fg_fact_difference *difference = &verdict->environment_difference[i];

		difference->key = need_text(r, item, "key");
		difference->baseline = get_text(r, item, "baseline");
		difference->candidate = get_text(r, item, "candidate");
		difference->identity = get_flag(item, "identity");
	}
}

static int open_document(const char *json, size_t size, cJSON **document, struct fg_error *err)
{
	const char *schema = NULL;
	int status = fg_json_parse(json, size, MAX_REPORT_BYTES, document, err);

	if (status != FG_OK)
		return status;
	schema = fg_json_text_or(*document, "schema", "nothing");
	if (strcmp(schema, FG_REPORT_SCHEMA) == 0)
		return FG_OK;
	status = fg_error_set(err, FG_EPARSE,
			      "the report's schema is '%.60s', expected '" FG_REPORT_SCHEMA "'",
			      schema);
	cJSON_Delete(*document);
	*document = NULL;
	return status;
}

int fg_report_read(const char *json, size_t size, struct fg_verdict *verdict, struct fg_error *err)
{
	struct fg_verdict result = {0};
	struct fg_argument_room room = fg_argument_room_of_run;
	const struct reader r = {.arena = &result.arena, .room = &room};
	const cJSON *item = NULL;
	cJSON *document = NULL;

	FG_TRY(open_document(json, size, &document, err));
	result.outcome = get_outcome(document);
	result.exit_code = (enum fg_exit)get_count(document, "exit_code", FG_EXIT_INTERRUPTED);
	item = get_elements(document, "benchmarks", &result.benchmark_count);
	result.benchmarks =
		fg_arena_array(&result.arena, result.benchmark_count, sizeof(result.benchmarks[0]));
	for (size_t i = 0; i < result.benchmark_count; i++, item = item->next)
		read_benchmark(&r, item, &result.benchmarks[i]);
	read_differences(&r, document, &result);
	read_notes(&r, document, &result.notes);
	*verdict = result;
	cJSON_Delete(document);
	return FG_OK;
}

/* ---- judging a run again ---- */

static void restore(const struct fg_benchmark_verdict *benchmark, const struct fg_run *run,
		    struct fg_profile_set *const *profiles)
{
	const struct fg_series *series = fg_run_find(run, benchmark->name);
	struct fg_profile_set *set = series ? profiles[series - run->series] : NULL;

	for (unsigned side = 0; set && benchmark->arguments && side < FG_ARM_COUNT; side++)
		fg_argument_sums_add_table(&set->arguments, benchmark->arguments, side, side);
}

void fg_report_restore_arguments(const char *json, const struct fg_run *run,
				 struct fg_profile_set *const *profiles)
{
	struct fg_verdict verdict = {0};

	if (!json || !profiles || !strstr(json, "\"arguments\"") ||
	    fg_report_read(json, strlen(json), &verdict, NULL) != FG_OK)
		return;
	for (size_t i = 0; i < verdict.benchmark_count; i++)
		restore(&verdict.benchmarks[i], run, profiles);
	fg_verdict_release(&verdict);
}

/* ---- the run ---- */

static char *copy_or_null(const cJSON *object, const char *name)
{
	const char *text = fg_json_text_or(object, name, NULL);

	return text ? fg_xstrdup(text) : NULL;
}

static bool is_made_of(const char *text, const char *signs, size_t least, size_t most)
{
	const size_t length = strlen(text);

	return length >= least && length <= most && strspn(text, signs) == length;
}

/*
 * Reads the facts about the commit: author, subject, pull request, number. Other facts may be links
 * to anywhere.
 */
static void read_change(const cJSON *build, struct fg_environment *facts)
{
	static const char *const names[] = {"git.subject", "git.author", "git.pull_request",
					    "git.commits"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		const char *value = fg_json_text_or(build, names[i], NULL);

		if (value)
			fg_environment_set(facts, names[i], value, false);
	}
}

static int read_side(const cJSON *object, struct fg_side *side, struct fg_error *err)
{
	const char *commit = fg_json_text_or(object, "commit", NULL);

	if (commit && !is_made_of(commit, "0123456789abcdef", 4, 64))
		return fg_error_set(err, FG_EPARSE, "the report's commit is not a commit id");
	side->commit = commit ? fg_xstrdup(commit) : NULL;
	side->branch = copy_or_null(object, "branch");
	side->describe = copy_or_null(object, "describe");
	side->dirty = get_flag(object, "dirty");
	read_change(cJSON_GetObjectItemCaseSensitive(object, "build"), &side->build);
	return FG_OK;
}

static int read_run(const cJSON *object, struct fg_run *run, struct fg_error *err)
{
	const char *id = fg_json_text_or(object, "id", "");

	if (!is_made_of(id, "0123456789abcdef-", 1, sizeof(run->id) - 1))
		return fg_error_set(err, FG_EPARSE, "the report lacks a run id");
	memcpy(run->id, id, strlen(id) + 1);
	run->project = copy_or_null(object, "project");
	run->tool_version = copy_or_null(object, "fastgate_version");
	(void)fg_time_parse_utc(fg_json_text_or(object, "started_at", ""), &run->started_ns);
	(void)fg_time_parse_utc(fg_json_text_or(object, "ended_at", ""), &run->ended_ns);
	run->complete = get_flag(object, "complete");
	FG_TRY(read_side(cJSON_GetObjectItemCaseSensitive(object, "baseline"),
			 &run->sides[FG_ARM_BASELINE], err));
	return read_side(cJSON_GetObjectItemCaseSensitive(object, "candidate"),
			 &run->sides[FG_ARM_CANDIDATE], err);
}

int fg_report_read_run(const char *json, size_t size, struct fg_run *run, struct fg_error *err)
{
	struct fg_run result;
	cJSON *document = NULL;
	int status = open_document(json, size, &document, err);

	if (status != FG_OK)
		return status;
	fg_run_init(&result);
	status = read_run(cJSON_GetObjectItemCaseSensitive(document, "run"), &result, err);
	cJSON_Delete(document);
	if (status != FG_OK) {
		fg_run_release(&result);
		return status;
	}
	*run = result;
	return FG_OK;
}
