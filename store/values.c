// SPDX-License-Identifier: Apache-2.0
#include "store/values.h"

#include "base/arena.h"
#include "base/json_exchange.h"
#include "base/text.h"
#include "model/metric.h"
#include "model/plan.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"

#include <limits.h>
#include <math.h>

enum {
	COLUMN_EMPTY = 0,
	COLUMN_WHOLE = 1,
	COLUMN_REAL = 2
};

/*
 * Returns the form of a metric's values. Most values are whole numbers (nanoseconds, bytes,
 * counts), which pack far better.
 */
static int column_kind(const struct fg_series *series, size_t first, size_t metric)
{
	int kind = COLUMN_EMPTY;

	for (size_t i = first; i < series->repetition_count; i++) {
		const double value = series->repetitions[i].values[metric];

		if (isnan(value))
			continue;
		/* Negative numbers, including -0.0, are rare. */
		if (!fg_json_is_whole(value) || signbit(value))
			return COLUMN_REAL;
		kind = COLUMN_WHOLE;
	}
	return kind;
}

static uint64_t zigzag(int64_t value)
{
	const uint64_t bits = (uint64_t)value << 1;

	return value < 0 ? ~bits : bits;
}

static void write_column(const struct fg_series *series, size_t first, size_t metric,
			 struct fg_bytes *bytes)
{
	const int kind = column_kind(series, first, metric);
	int64_t before = 0;

	fg_bytes_varint(bytes, (uint64_t)kind);
	for (size_t i = first; i < series->repetition_count && kind != COLUMN_EMPTY; i++) {
		const double value = series->repetitions[i].values[metric];

		if (kind == COLUMN_REAL) {
			fg_bytes_double(bytes, value);
		} else if (isnan(value)) {
			fg_bytes_varint(bytes, 0);
		} else {
			fg_bytes_varint(bytes, zigzag((int64_t)value - before) + 1);
			before = (int64_t)value;
		}
	}
}

void fg_repetitions_write(const struct fg_series *series, size_t first, struct fg_bytes *bytes)
{
	int64_t pair = 0;
	int64_t started = 0;

	fg_bytes_varint(bytes, series->repetition_count - first);
	fg_bytes_varint(bytes, series->metric_count);
	for (size_t i = first; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		fg_bytes_signed(bytes, (int64_t)r->pair - pair);
		pair = r->pair;
		fg_bytes_varint(bytes, (uint64_t)r->arm | (r->sampled ? 2U : 0U));
		fg_bytes_varint(bytes, r->position);
		fg_bytes_varint(bytes, r->aside);
		fg_bytes_signed(bytes, r->cpu);
		fg_bytes_varint(bytes, r->padding);
		fg_bytes_signed(bytes, (int64_t)((uint64_t)r->started_ns - (uint64_t)started));
		started = r->started_ns;
		fg_bytes_varint(bytes, r->period_ns);
		fg_bytes_float(bytes, r->load);
		fg_bytes_float(bytes, r->steal);
		fg_bytes_float(bytes, r->pressure);
	}
	for (size_t m = 0; m < series->metric_count; m++)
		write_column(series, first, m, bytes);
}

static void read_head(struct fg_byte_reader *reader, struct fg_repetition *r, int64_t *pair,
		      int64_t *started)
{
	uint64_t flags = 0;

	*pair = (int64_t)((uint64_t)*pair + (uint64_t)fg_read_signed(reader));
	r->pair = (uint32_t)*pair;
	flags = fg_read_varint(reader);
	r->arm = (uint8_t)(flags & 1);
	r->sampled = (flags & 2) != 0;
	r->position = (uint8_t)fg_read_varint(reader);
	r->aside = (uint16_t)fg_read_varint(reader);
	r->cpu = (int16_t)fg_read_signed(reader);
	r->padding = (uint16_t)fg_read_varint(reader);
	*started = (int64_t)((uint64_t)*started + (uint64_t)fg_read_signed(reader));
	r->started_ns = *started;
	r->period_ns = fg_read_varint(reader);
	r->load = fg_read_float(reader);
	r->steal = fg_read_float(reader);
	r->pressure = fg_read_float(reader);
}

static void read_column(struct fg_byte_reader *reader, struct fg_series *series, size_t first,
			size_t metric)
{
	const uint64_t kind = fg_read_varint(reader);
	int64_t before = 0;

	if (kind > COLUMN_REAL)
		reader->failed = true;
	for (size_t i = first;
	     i < series->repetition_count && kind != COLUMN_EMPTY && !reader->failed; i++) {
		double *value = &series->repetitions[i].values[metric];
		uint64_t step = 0;

		if (kind == COLUMN_REAL) {
			*value = fg_read_double(reader);
			continue;
		}
		step = fg_read_varint(reader);
		if (step == 0)
			continue;
		step--;
		before = (int64_t)((uint64_t)before + (step & 1 ? ~(step >> 1) : step >> 1));
		*value = (double)before;
	}
}

int fg_repetitions_read(struct fg_byte_reader *reader, struct fg_series *series,
			struct fg_error *err)
{
	enum {
		MIN_BYTES = 20
	};
	const size_t first = series->repetition_count;
	const size_t count = fg_read_count(reader, MIN_BYTES);
	/* A harness may add a metric later: earlier chunks have fewer columns. */
	const size_t metrics = fg_read_count(reader, 1);
	int64_t pair = 0;
	int64_t started = 0;

	if (metrics > series->metric_count)
		reader->failed = true;
	for (size_t i = 0; i < count && !reader->failed; i++)
		read_head(reader, fg_series_add_repetition(series), &pair, &started);
	for (size_t m = 0; m < metrics && !reader->failed; m++)
		read_column(reader, series, first, m);
	if (reader->failed)
		return fg_error_set(err, FG_EPARSE,
				    "the repetitions of benchmark '%s' are damaged or cut short",
				    series->name);
	return FG_OK;
}

int fg_values_end(const struct fg_byte_reader *reader, struct fg_error *err)
{
	const size_t left = (size_t)(reader->end - reader->at);

	if (left == 0)
		return FG_OK;
	return fg_error_set(err, FG_EPARSE, "%zu bytes follow the values", left);
}

void fg_regions_write(const struct fg_profile_set *set, size_t first, struct fg_bytes *bytes)
{
	fg_bytes_varint(bytes, set->region_count);
	for (size_t i = 0; i < set->region_count; i++)
		fg_bytes_text(bytes, set->regions[i]);
	fg_bytes_varint(bytes, set->region_row_count - first);
	for (size_t i = first; i < set->region_row_count; i++) {
		const struct fg_profile_region_row *row = &set->region_rows[i];

		fg_bytes_varint(bytes, row->arm);
		fg_bytes_varint(bytes, row->pair);
		fg_bytes_varint(bytes, row->aside);
		fg_bytes_varint(bytes, row->region);
		fg_bytes_varint(bytes, row->count);
		fg_bytes_double(bytes, row->cpu_ns);
		fg_bytes_double(bytes, row->wall_ns);
	}
}

/* Makes room for `more` region rows. */
static void make_region_room(struct fg_profile_set *set, size_t more)
{
	struct fg_profile_region_row *rows =
		fg_arena_array(&set->arena, set->region_row_count + more, sizeof(*rows));

	if (set->region_row_count)
		memcpy(rows, set->region_rows, set->region_row_count * sizeof(*rows));
	set->region_rows = rows;
	set->region_row_capacity = set->region_row_count + more;
}

int fg_regions_read(struct fg_byte_reader *reader, struct fg_profile_set *set, struct fg_error *err)
{
	enum {
		MIN_ROW_BYTES = 21
	};
	const size_t names = fg_read_count(reader, 1);
	uint32_t *regions = fg_xcalloc(names, sizeof(*regions));
	size_t rows = 0;

	for (size_t i = 0; i < names && !reader->failed; i++) {
		const char *text = NULL;
		const size_t length = fg_read_text(reader, FG_MAX_FUNCTION_BYTES, &text);
		char *name = fg_xstrndup(text ? text : "", length);

		regions[i] = fg_profile_set_region(set, name);
		free(name);
	}
	rows = fg_read_count(reader, MIN_ROW_BYTES);
	make_region_room(set, rows);
	for (size_t i = 0; i < rows && !reader->failed; i++) {
		struct fg_profile_region_row row = {.arm = (uint8_t)(fg_read_varint(reader) & 1)};
		uint64_t region = 0;

		row.pair = (uint32_t)fg_read_varint(reader);
		row.aside = (uint16_t)fg_read_varint(reader);
		region = fg_read_varint(reader);
		row.count = fg_read_varint(reader);
		row.cpu_ns = fg_read_double(reader);
		row.wall_ns = fg_read_double(reader);
		if (region >= names)
			reader->failed = true;
		if (reader->failed)
			break;
		row.region = regions[region];
		set->region_rows[set->region_row_count++] = row;
	}
	free(regions);
	return reader->failed
		       ? fg_error_set(err, FG_EPARSE, "region values are damaged or cut short")
		       : FG_OK;
}

void fg_metrics_write(const struct fg_series *series, struct fg_json_writer *w, const char *name)
{
	fg_json_begin_array(w, name);
	for (size_t i = 0; i < series->metric_count; i++) {
		const struct fg_metric *m = &series->metrics[i];

		fg_json_begin_object(w, NULL);
		fg_json_text(w, "name", m->name);
		fg_json_text(w, "label", m->label);
		fg_json_text(w, "unit", m->unit);
		fg_json_text(w, "better", m->better == FG_BETTER_HIGHER ? "higher" : "lower");
		fg_json_bool(w, "exact", m->exact);
		fg_json_bool(w, "gated", m->gated);
		fg_json_bool(w, "valid_in_duet", m->valid_in_duet);
		fg_json_double(w, "min_effect", m->min_effect);
		fg_json_double(w, "margin", m->margin);
		fg_json_end(w);
	}
	fg_json_end(w);
}

static bool flag(const cJSON *json, const char *name)
{
	return cJSON_IsTrue(fg_json_find(json, name));
}

static void drop_metrics(struct fg_series *series)
{
	for (size_t i = 0; i < series->metric_count; i++) {
		free((void *)(uintptr_t)series->metrics[i].name);
		free((void *)(uintptr_t)series->metrics[i].label);
		free((void *)(uintptr_t)series->metrics[i].unit);
	}
	series->metric_count = 0;
}

int fg_metrics_read(const cJSON *json, struct fg_series *series, struct fg_error *err)
{
	const cJSON *item = NULL;

	if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) > FG_MAX_METRICS)
		return fg_error_set(err, FG_EPARSE,
				    "the metrics of benchmark '%s': expected a list of at most %d",
				    series->name, FG_MAX_METRICS);
	drop_metrics(series);
	cJSON_ArrayForEach(item, json)
	{
		const char *name = fg_json_text_or(item, "name", "");
		const struct fg_metric metric = {
			.name = name,
			.label = fg_json_text_or(item, "label", name),
			.unit = fg_json_text_or(item, "unit", "1"),
			.better = strcmp(fg_json_text_or(item, "better", "lower"), "higher") == 0
					  ? FG_BETTER_HIGHER
					  : FG_BETTER_LOWER,
			.exact = flag(item, "exact"),
			.gated = flag(item, "gated"),
			.valid_in_duet = flag(item, "valid_in_duet"),
			.min_effect = fg_json_double_or(item, "min_effect", 0),
			.margin = fg_json_double_or(item, "margin", 0),
		};

		if (!*name || strlen(name) > FG_MAX_NAME_BYTES ||
		    strlen(metric.unit) > FG_MAX_NAME_BYTES)
			return fg_error_set(
				err, FG_EPARSE,
				"a metric of benchmark '%s' has no name, or one longer than %d bytes",
				series->name, FG_MAX_NAME_BYTES);
		(void)fg_series_add_metric(series, &metric);
	}
	return FG_OK;
}

static const char *const states[] = {
	[FG_MEASURED] = "measured",
	[FG_INTERRUPTED] = "interrupted",
	[FG_NOT_MEASURED] = "not-measured",
};

static const char *const remark_names[] = {
	[FG_REMARK_INPUTS] = "inputs",       [FG_REMARK_UNSAMPLED] = "unsampled",
	[FG_REMARK_OUTSIDE] = "outside",     [FG_REMARK_COUNTS] = "counts",
	[FG_REMARK_CALLS] = "calls",         [FG_REMARK_DOMAINS] = "domains",
	[FG_REMARK_ARGUMENTS] = "arguments", [FG_REMARK_HINTS] = "hints",
	[FG_REMARK_EXACT] = "exact",
};

/* Exchanges a string that the series owns; NULL is not written. */
static void exchange_own(const struct fg_exchange *with, const char *name, char **text)
{
	if (!with->w) {
		free(*text);
		*text = fg_xstrdup(fg_json_text_or(with->json, name, NULL));
	} else if (*text) {
		fg_json_text(with->w, name, *text);
	}
}

static bool exchange_remarks(const struct fg_exchange *with, void *remarks)
{
	char **texts = remarks;

	for (size_t i = 0; i < FG_REMARK_COUNT; i++)
		exchange_own(with, remark_names[i], &texts[i]);
	return true;
}

static void exchange_schedule(const struct fg_exchange *with, struct fg_series *series)
{
	const char *name = fg_schedule_name(series->schedule);

	fg_exchange_words(with, "schedule", &name);
	if (!fg_schedule_parse(name, &series->schedule))
		series->schedule = FG_SCHEDULE_AUTO;
	exchange_own(with, "schedule_reason", &series->schedule_reason);
}

static void exchange_only_in(const struct fg_exchange *with, bool only_in[FG_ARM_COUNT])
{
	const char *side = only_in[FG_ARM_BASELINE]    ? "baseline"
			   : only_in[FG_ARM_CANDIDATE] ? "candidate"
						       : NULL;

	fg_exchange_text_if(with, "only_in", &side);
	only_in[FG_ARM_BASELINE] = side && strcmp(side, "baseline") == 0;
	only_in[FG_ARM_CANDIDATE] = side && strcmp(side, "candidate") == 0;
}

/* Returns false if this version of fastgate does not know the state. */
static bool exchange_details(const struct fg_exchange *with, void *at)
{
	struct fg_series *series = at;
	const char *state = states[series->state];
	size_t found = 0;

	fg_exchange_words(with, "state", &state);
	found = fg_text_find(state, states, FG_ARRAY_SIZE(states));
	exchange_own(with, "failure", &series->failure);
	exchange_own(with, "failure_tail", &series->failure_tail);
	exchange_schedule(with, series);
	exchange_only_in(with, series->only_in);
	fg_exchange_flag(with, "identical", &series->identical);
	fg_exchange_flag(with, "unaffected", &series->unaffected);
	exchange_own(with, "affected", &series->affected);
	fg_exchange_positive(with, "seconds", &series->seconds);
	fg_exchange_number(with, "sampler_cost", &series->sampler_cost);
	exchange_own(with, "as_linked_metric", &series->as_linked_metric);
	fg_exchange_number(with, "as_linked", &series->as_linked);
	series->layouts =
		(unsigned)fg_exchange_count(with, "layouts", series->layouts, FG_LAYOUTS_MAX);
	/* Uploads are not trusted: correct a `layouts` that does not fit `as_linked_metric`. */
	if (!with->w && (series->layouts == 0 || !series->as_linked_metric))
		series->layouts = series->as_linked_metric ? FG_LINE_PLACES : 0;
	(void)fg_exchange_part(with, "sampling", &series->sampling, fg_sampling_exchange);
	fg_exchange_positive(with, "start_share", &series->sampling.start_share);
	series->creep_window =
		(unsigned)fg_exchange_count(with, "creep_window", series->creep_window, INT_MAX);
	fg_exchange_positive(with, "creep_tolerated", &series->creep_tolerated);
	(void)fg_exchange_part(with, "remarks", series->remarks, exchange_remarks);
	if (found < FG_ARRAY_SIZE(states))
		series->state = (enum fg_measure_state)found;
	return found < FG_ARRAY_SIZE(states);
}

void fg_details_write(const struct fg_series *series, struct fg_json_writer *w, const char *name)
{
	struct fg_series copy = *series;

	(void)fg_exchange_part(&(struct fg_exchange){.w = w}, name, &copy, exchange_details);
}

int fg_details_read(const cJSON *json, struct fg_series *series, struct fg_error *err)
{
	struct fg_arena arena = {0};
	const bool is_known =
		exchange_details(&(struct fg_exchange){.json = json, .arena = &arena}, series);
	int status = FG_OK;

	if (!is_known)
		status = fg_error_set(err, FG_EPARSE, "benchmark '%s' has an unknown state: '%s'",
				      series->name, fg_json_text_or(json, "state", ""));
	fg_arena_release(&arena);
	return status;
}
