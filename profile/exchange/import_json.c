// SPDX-License-Identifier: Apache-2.0
/*
 * "fastgate-profile/1" back again: what export_json.c writes, packed by gzip or not.  Nothing is
 * lost on the way there and back.
 *
 * The tables refer to each other by row.  The input is untrusted: each index is checked against its
 * table before it is used, and a stack's parent must come before
 * it, so that no chain is a circle.
 */
#include "base/json.h"
#include "base/text.h"
#include "profile/exchange/export_formats.h"
#include "profile/exchange/import_formats.h"
#include "profile/exchange/import_sink.h"

#define SCHEMA_NAME "fastgate-profile/"
#define SCHEMA      SCHEMA_NAME "1"

enum {
	MAX_ROWS = 1 << 24,
	MAX_REGIONS = 1 << 12, /* lookup is linear */
	MAX_REPETITIONS = 100000,
};

/* The largest integer that JSON's doubles represent exactly. */
#define MAX_WHOLE ((double)(UINT64_C(1) << 62))

struct reader {
	struct fg_profile *profile;
	const cJSON *json;
	/* Rows of the file → of the profile, where equal rows become one. */
	uint32_t *functions, *frames, *stacks, *regions, *measures;
	size_t function_count, frame_count, stack_count, region_count, measure_count;
};

static const char *const better_words[] = {
	[FG_BETTER_LOWER] = "lower",
	[FG_BETTER_HIGHER] = "higher",
};

/* The row being read; remembers the first wrong member. */
struct row {
	struct reader *reader;
	const cJSON *item;
	const char *wrong;
};

/* ------------------------------------------------------------------- members */

static const cJSON *member(const struct row *row, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(row->item, name);
}

static void refuse(struct row *row, const char *name)
{
	if (!row->wrong)
		row->wrong = name;
}

static double number_of(struct row *row, const char *name, double least, double most)
{
	const cJSON *item = member(row, name);

	if (cJSON_IsNumber(item) && item->valuedouble >= least && item->valuedouble <= most)
		return item->valuedouble;
	refuse(row, name);
	return 0;
}

/* An index into a table of `count` rows; 0 may stand for "none" of a table without any. */
static uint32_t below(struct row *row, const char *name, size_t count)
{
	return (uint32_t)number_of(row, name, 0, count > 0 ? (double)count - 1 : 0);
}

static uint32_t up_to_32_bits(struct row *row, const char *name)
{
	return (uint32_t)number_of(row, name, 0, UINT32_MAX);
}

static int64_t moment(struct row *row, const char *name)
{
	return (int64_t)number_of(row, name, 0, MAX_WHOLE);
}

static double amount(struct row *row, const char *name)
{
	return number_of(row, name, 0, 1e300);
}

/* Addresses of the kernel have their top bit set and were written as negative numbers. */
static uint64_t address(struct row *row, const char *name)
{
	return (uint64_t)(int64_t)number_of(row, name, -2 * MAX_WHOLE, MAX_WHOLE);
}

static bool truth(struct row *row, const char *name)
{
	const cJSON *item = member(row, name);

	if (!cJSON_IsBool(item))
		refuse(row, name);
	return cJSON_IsTrue(item);
}

/* NULL for null. */
static const char *text_or_null(struct row *row, const char *name)
{
	const cJSON *item = member(row, name);

	if (cJSON_IsNull(item))
		return NULL;
	if (cJSON_IsString(item) && strlen(item->valuestring) <= FG_IMPORT_MAX_NAME)
		return fg_profile_text(row->reader->profile, item->valuestring);
	refuse(row, name);
	return NULL;
}

static const char *text_of(struct row *row, const char *name)
{
	const char *text = text_or_null(row, name);

	if (text)
		return text;
	refuse(row, name);
	return "";
}

/* The index of a word in a list; refused when it is not there. */
static unsigned word(struct row *row, const char *name, const char *const *words, unsigned count)
{
	const cJSON *item = member(row, name);

	for (unsigned i = 0; i < count; i++)
		if (cJSON_IsString(item) && words[i] && strcmp(item->valuestring, words[i]) == 0)
			return i;
	refuse(row, name);
	return 0;
}

/* ---------------------------------------------------------------------- rows */

static void read_process(struct row *row, size_t number)
{
	struct fg_process_info *process = fg_profile_add_process(row->reader->profile);

	(void)number;
	process->pid = up_to_32_bits(row, "pid");
	process->image = up_to_32_bits(row, "image");
	process->executable = text_or_null(row, "executable");
	process->command = text_or_null(row, "command");
	process->start_ns = moment(row, "start_ns");
	process->end_ns = moment(row, "end_ns");
}

static void read_thread(struct row *row, size_t number)
{
	struct fg_thread_info *thread = fg_profile_add_thread(row->reader->profile);

	(void)number;
	thread->process = below(row, "process", row->reader->profile->process_count);
	thread->tid = up_to_32_bits(row, "tid");
	thread->name = text_or_null(row, "name");
	thread->start_ns = moment(row, "start_ns");
	thread->end_ns = moment(row, "end_ns");
	thread->user_ns = amount(row, "user_ns");
	thread->system_ns = amount(row, "system_ns");
}

static void read_module(struct row *row, size_t number)
{
	struct fg_profile *profile = row->reader->profile;
	struct fg_module_info *module =
		number == 0 ? &profile->modules[0] : fg_profile_add_module(profile);

	module->path = text_of(row, "path");
	module->name = text_of(row, "name");
	module->build_id = text_of(row, "build_id");
	module->start = address(row, "start");
	module->end = address(row, "end");
	module->process = below(row, "process", profile->process_count);
	module->symbols_from = text_or_null(row, "symbols_from");
}

static void read_function(struct row *row, size_t number)
{
	struct reader *reader = row->reader;
	const struct fg_profile_function function = {
		.name = text_of(row, "name"),
		.linkage = text_or_null(row, "linkage_name"),
		.library = text_of(row, "library"),
		.file = text_or_null(row, "file"),
		.line = up_to_32_bits(row, "line"),
		.inlined = truth(row, "inlined"),
	};

	if (number == 0)
		reader->profile->functions[0].name = function.name;
	else
		reader->functions[number] = fg_profile_function(reader->profile, &function);
}

static void read_frame(struct row *row, size_t number)
{
	struct reader *reader = row->reader;
	const uint32_t function = below(row, "function", reader->function_count);
	const struct fg_frame frame = {
		.function = reader->functions[function],
		.file = text_or_null(row, "file"),
		.line = up_to_32_bits(row, "line"),
		.address = address(row, "address"),
		.module = below(row, "module", reader->profile->module_count),
		.flags = (truth(row, "inlined") ? FG_FRAME_INLINED : 0) |
			 fg_frame_natures[word(row, "nature", fg_frame_nature_words,
					       FG_FRAME_NATURES)],
	};

	if (number > 0)
		reader->frames[number] = fg_profile_frame(reader->profile, &frame);
}

static void read_region(struct row *row, size_t number)
{
	struct reader *reader = row->reader;
	const uint32_t parent = below(row, "parent", number + (number == 0));
	const char *name = text_of(row, "name");
	struct fg_region_info *region;

	if (number > 0)
		reader->regions[number] =
			fg_profile_region(reader->profile, reader->regions[parent], name);
	region = &reader->profile->regions[reader->regions[number]];
	region->count = (uint64_t)moment(row, "count");
	region->wall_ns = amount(row, "wall_ns");
	region->cpu_ns = amount(row, "cpu_ns");
}

static void read_unit(struct row *row, size_t number)
{
	struct fg_profile *profile = row->reader->profile;
	struct fg_unit_info *unit = number == 0 ? &profile->units[0] : fg_profile_add_unit(profile);

	unit->kind = text_of(row, "kind");
	unit->number = address(row, "number");
	unit->thread = below(row, "thread", profile->thread_count);
	unit->start_ns = moment(row, "start_ns");
	unit->end_ns = moment(row, "end_ns");
	unit->ended = truth(row, "ended");
}

static void read_span(struct row *row, size_t number)
{
	struct fg_profile *profile = row->reader->profile;
	struct fg_region_span *span = fg_profile_add_span(profile);

	(void)number;
	span->region = row->reader->regions[below(row, "region", row->reader->region_count)];
	span->thread = below(row, "thread", profile->thread_count);
	span->start_ns = moment(row, "start_ns");
	span->end_ns = moment(row, "end_ns");
}

/* Built-in measures are what the table says; any other is what the file says. */
static void read_measure(struct row *row, size_t number)
{
	const struct fg_measure_list builtin = {0};
	struct reader *reader = row->reader;
	struct fg_profile *profile = reader->profile;
	struct fg_measure measure = fg_measure_describe(text_of(row, "name"), text_of(row, "unit"));
	struct fg_profile_measure *read = NULL;
	uint16_t id = 0;

	if (*measure.name == '\0')
		refuse(row, "name");
	if (!fg_measure_find(&builtin, measure.name, &id)) {
		measure.label = text_of(row, "label");
		measure.fold = (enum fg_measure_fold)word(row, "fold", fg_measure_fold_words,
							  FG_FOLD_COUNT);
		measure.better = (enum fg_better)word(row, "better", better_words, 2);
		measure.exact = truth(row, "exact");
	}
	if (number == 0)
		fg_profile_set_first_measure(profile, &measure);
	reader->measures[number] = fg_profile_measure(profile, &measure);
	read = &profile->measures[reader->measures[number]];
	read->lost = amount(row, "lost");
	read->truncated = amount(row, "truncated");
}

static void read_sample(struct row *row, size_t number)
{
	struct reader *reader = row->reader;
	struct fg_profile *profile = reader->profile;
	struct fg_sample *sample = fg_profile_add_sample(profile);
	struct fg_profile_measure *measure = NULL;

	(void)number;
	sample->measure = (uint16_t)reader->measures[below(row, "measure", reader->measure_count)];
	sample->stack = reader->stacks[below(row, "stack", reader->stack_count)];
	sample->value = amount(row, "value");
	sample->count = up_to_32_bits(row, "count");
	if (profile->has_times)
		sample->time_ns = moment(row, "time_ns");
	sample->thread = below(row, "thread", profile->thread_count);
	sample->region = reader->regions[below(row, "region", reader->region_count)];
	sample->unit = below(row, "unit", profile->unit_count);
	sample->repetition = below(row, "repetition", profile->repetition_count);
	sample->kind = (uint8_t)word(row, "kind", fg_time_kind_words, FG_TIME_KIND_COUNT);
	sample->truncated = truth(row, "truncated");
	measure = &profile->measures[sample->measure];
	measure->total = fg_measure_join(measure->is.fold, measure->total, sample->value);
}

/* -------------------------------------------------------------------- tables */

static int find_table(const struct reader *reader, const char *name, size_t least, size_t most,
		      const cJSON **table, struct fg_error *err)
{
	const int status = fg_json_get_array(reader->json, name, table, err);
	size_t count;

	if (status != FG_OK)
		return status;
	count = (size_t)cJSON_GetArraySize(*table);
	if (count < least)
		return fg_error_set(err, FG_EPARSE, "'%s' has no row 0", name);
	if (count > most)
		return fg_error_set(err, FG_ELIMIT, "'%s' has more than %zu rows", name, most);
	return FG_OK;
}

static int read_table(struct reader *reader, const char *name, size_t least, size_t most,
		      void (*read)(struct row *row, size_t number), struct fg_error *err)
{
	const cJSON *table;
	const cJSON *item;
	size_t number = 0;
	int status = find_table(reader, name, least, most, &table, err);

	if (status != FG_OK)
		return status;
	cJSON_ArrayForEach(item, table)
	{
		struct row row = {.reader = reader, .item = item};

		read(&row, number);
		if (row.wrong)
			return fg_error_set(err, FG_EPARSE,
					    "row %zu of '%s': '%s' is missing or of the wrong type",
					    number, name, row.wrong);
		number++;
	}
	return FG_OK;
}

static bool is_index(const cJSON *item, size_t count)
{
	return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < (double)count;
}

static int read_stacks(struct reader *reader, struct fg_error *err)
{
	const cJSON *parents;
	const cJSON *frames;
	uint32_t *depths;
	size_t number = 0;
	int status = find_table(reader, "stacks/parent", 1, FG_IMPORT_MAX_STACKS, &parents, err);

	if (status != FG_OK)
		return status;
	status = find_table(reader, "stacks/frame", 1, FG_IMPORT_MAX_STACKS, &frames, err);
	if (status != FG_OK)
		return status;
	reader->stack_count = (size_t)cJSON_GetArraySize(parents);
	if ((size_t)cJSON_GetArraySize(frames) != reader->stack_count)
		return fg_error_set(err, FG_EPARSE, "'stacks' has not as many frames as parents");
	reader->stacks = fg_xcalloc(reader->stack_count, sizeof(reader->stacks[0]));
	depths = fg_xcalloc(reader->stack_count, sizeof(depths[0]));
	frames = frames->child->next; /* row 0 is the root */
	for (const cJSON *at = parents->child->next; at; at = at->next, frames = frames->next) {
		number++;
		if (!is_index(at, number) || !is_index(frames, reader->frame_count)) {
			status = fg_error_set(
				err, FG_EPARSE,
				"row %zu of 'stacks': it points to no row before it, or "
				"to no frame",
				number);
			break;
		}
		depths[number] = depths[(size_t)at->valuedouble] + 1;
		if (depths[number] > FG_IMPORT_MAX_DEPTH) {
			status = fg_error_set(err, FG_ELIMIT, "a stack has more than %d frames",
					      FG_IMPORT_MAX_DEPTH);
			break;
		}
		reader->stacks[number] =
			fg_profile_stack(reader->profile, reader->stacks[(size_t)at->valuedouble],
					 reader->frames[(size_t)frames->valuedouble]);
	}
	free(depths);
	return status;
}

static int read_head(struct reader *reader, struct fg_error *err)
{
	struct fg_profile *profile = reader->profile;
	struct row row = {.reader = reader, .item = reader->json};
	const cJSON *notes = member(&row, "notes");
	const cJSON *note;

	if (!cJSON_IsNull(member(&row, "title")))
		profile->title = text_of(&row, "title");
	profile->clock = text_or_null(&row, "clock");
	profile->period_ns = (uint64_t)moment(&row, "period_ns");
	profile->started_wall_ns = moment(&row, "started_wall_ns");
	profile->duration_ns = moment(&row, "duration_ns");
	profile->repetition_count = (uint32_t)number_of(&row, "repetitions", 1, MAX_REPETITIONS);
	profile->cpu_ns = amount(&row, "cpu_ns");
	profile->has_times = truth(&row, "has_times");
	cJSON_ArrayForEach(note, notes)
	{
		if (cJSON_IsString(note))
			fg_profile_add_note(profile, "%s", note->valuestring);
	}
	if (row.wrong)
		return fg_error_set(err, FG_EPARSE, "'%s' is missing or of the wrong type",
				    row.wrong);
	return FG_OK;
}

/* ----------------------------------------------------------------- the whole */

static size_t rows_of(const struct reader *reader, const char *name)
{
	const cJSON *table = fg_json_find(reader->json, name);

	return cJSON_IsArray(table) ? (size_t)cJSON_GetArraySize(table) : 0;
}

static uint32_t *make_map(size_t *count, size_t rows)
{
	*count = rows;
	return fg_xcalloc(rows + 1, sizeof(uint32_t));
}

/* In this order: rows refer to rows of the tables before theirs. */
static int read_tables(struct reader *reader, struct fg_error *err)
{
	static const struct {
		const char *name;
		size_t least; /* row 0 stands for "none" where it is 1 */
		size_t most;
		void (*read)(struct row *row, size_t number);
	} tables[] = {
		{.name = "measures", .least = 1, .most = FG_MEASURES_MAX, .read = read_measure},
		{.name = "processes", .most = MAX_ROWS, .read = read_process},
		{.name = "threads", .most = MAX_ROWS, .read = read_thread},
		{.name = "modules", .least = 1, .most = MAX_ROWS, .read = read_module},
		{.name = "functions",
		 .least = 1,
		 .most = FG_IMPORT_MAX_FUNCTIONS,
		 .read = read_function},
		{.name = "frames", .least = 1, .most = MAX_ROWS, .read = read_frame},
		{.name = "stacks"}, /* two arrays */
		{.name = "regions", .least = 1, .most = MAX_REGIONS, .read = read_region},
		{.name = "units", .least = 1, .most = MAX_ROWS, .read = read_unit},
		{.name = "spans", .most = MAX_ROWS, .read = read_span},
		{.name = "samples", .most = MAX_ROWS, .read = read_sample},
	};
	int status = read_head(reader, err);

	for (size_t i = 0; i < FG_ARRAY_SIZE(tables) && status == FG_OK; i++) {
		status = tables[i].read ? read_table(reader, tables[i].name, tables[i].least,
						     tables[i].most, tables[i].read, err)
					: read_stacks(reader, err);
	}
	return status;
}

static int check_schema(const cJSON *json, struct fg_error *err)
{
	const char *schema = fg_json_text_or(json, "schema", "");

	if (strcmp(schema, SCHEMA) == 0)
		return FG_OK;
	if (fg_text_starts_with(schema, SCHEMA_NAME))
		return fg_error_set(err, FG_EUNSUPPORTED, "%.64s: this fastgate reads " SCHEMA,
				    schema);
	return fg_error_set(err, FG_EPARSE, "its schema is not " SCHEMA);
}

static int read_text(const char *data, size_t size, struct fg_import_sink *sink,
		     struct fg_error *err)
{
	struct reader reader = {.profile = sink->profile};
	cJSON *json = NULL;
	int status = fg_json_parse(data, size, FG_IMPORT_JSON_MAX_BYTES, &json, err);

	if (status != FG_OK)
		return status;
	reader.json = json;
	status = check_schema(json, err);
	if (status != FG_OK)
		goto out;
	reader.functions = make_map(&reader.function_count, rows_of(&reader, "functions"));
	reader.frames = make_map(&reader.frame_count, rows_of(&reader, "frames"));
	reader.measures = make_map(&reader.measure_count, rows_of(&reader, "measures"));
	reader.regions = make_map(&reader.region_count, rows_of(&reader, "regions"));
	status = read_tables(&reader, err);
	free(reader.functions);
	free(reader.frames);
	free(reader.measures);
	free(reader.stacks);
	free(reader.regions);
out:
	cJSON_Delete(json);
	return status;
}

/* Detected by its first member, which the writer puts first. */
bool fg_import_json_is(const char *data, size_t size)
{
	static const char beginning[] = "{\"schema\":\"" SCHEMA_NAME;

	return size >= sizeof(beginning) - 1 && memcmp(data, beginning, sizeof(beginning) - 1) == 0;
}

int fg_import_json_read(const char *data, size_t size, const struct fg_import_options *options,
			struct fg_import_sink *sink, struct fg_error *err)
{
	(void)options;
	return read_text(data, size, sink, err);
}
