// SPDX-License-Identifier: Apache-2.0
#include "store/values.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"
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
 * The form of a metric's values. Most are whole numbers (nanoseconds, bytes, counts), which pack
 * far better.
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
		LEAST_BYTES = 20
	};
	const size_t first = series->repetition_count;
	const size_t count = fg_read_count(reader, LEAST_BYTES);
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
		LEAST_ROW_BYTES = 21
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
	rows = fg_read_count(reader, LEAST_ROW_BYTES);
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

static void write_sampling(const struct fg_sampling *sampling, struct fg_json_writer *w)
{
	fg_json_begin_object(w, "sampling");
	fg_json_double(w, "rate_hz", sampling->rate_hz);
	fg_json_double(w, "budget", sampling->budget);
	fg_json_double(w, "signal_ns", sampling->signal_ns);
	fg_json_double(w, "handler_ns", sampling->handler_ns);
	fg_json_double(w, "switch_ns", sampling->switch_ns);
	fg_json_double(w, "switches_hz", sampling->switches_hz);
	fg_json_double(w, "start_share", sampling->start_share);
	fg_json_double(w, "expected_cost", sampling->expected_cost);
	fg_json_text(w, "clock", sampling->clock);
	fg_json_text(w, "unseen", sampling->unseen);
	fg_json_end(w);
}

static void read_sampling(const cJSON *json, struct fg_sampling *sampling)
{
	*sampling = (struct fg_sampling){
		.rate_hz = fg_json_double_or(json, "rate_hz", 0),
		.budget = fg_json_double_or(json, "budget", 0),
		.signal_ns = fg_json_double_or(json, "signal_ns", 0),
		.handler_ns = fg_json_double_or(json, "handler_ns", 0),
		.switch_ns = fg_json_double_or(json, "switch_ns", 0),
		.switches_hz = fg_json_double_or(json, "switches_hz", 0),
		.start_share = fg_json_double_or(json, "start_share", 0),
		.expected_cost = fg_json_double_or(json, "expected_cost", (double)NAN),
	};
	(void)snprintf(sampling->clock, sizeof(sampling->clock), "%s",
		       fg_json_text_or(json, "clock", ""));
	(void)snprintf(sampling->unseen, sizeof(sampling->unseen), "%s",
		       fg_json_text_or(json, "unseen", ""));
}

static const char *const remark_names[] = {
	[FG_REMARK_INPUTS] = "inputs",       [FG_REMARK_UNSAMPLED] = "unsampled",
	[FG_REMARK_OUTSIDE] = "outside",     [FG_REMARK_COUNTS] = "counts",
	[FG_REMARK_CALLS] = "calls",         [FG_REMARK_DOMAINS] = "domains",
	[FG_REMARK_ARGUMENTS] = "arguments", [FG_REMARK_HINTS] = "hints",
	[FG_REMARK_EXACT] = "exact",
};

static void write_remarks(const struct fg_series *series, struct fg_json_writer *w)
{
	fg_json_begin_object(w, "remarks");
	for (size_t i = 0; i < FG_REMARK_COUNT; i++) {
		if (series->remarks[i])
			fg_json_text(w, remark_names[i], series->remarks[i]);
	}
	fg_json_end(w);
}

void fg_details_write(const struct fg_series *series, struct fg_json_writer *w, const char *name)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "state", states[series->state]);
	if (series->failure)
		fg_json_text(w, "failure", series->failure);
	if (series->failure_tail)
		fg_json_text(w, "failure_tail", series->failure_tail);
	fg_json_text(w, "schedule", fg_schedule_name(series->schedule));
	if (series->schedule_reason)
		fg_json_text(w, "schedule_reason", series->schedule_reason);
	if (series->only_in[FG_ARM_BASELINE])
		fg_json_text(w, "only_in", "baseline");
	if (series->only_in[FG_ARM_CANDIDATE])
		fg_json_text(w, "only_in", "candidate");
	fg_json_bool(w, "identical", series->identical);
	if (series->unaffected)
		fg_json_bool(w, "unaffected", true);
	if (series->affected)
		fg_json_text(w, "affected", series->affected);
	fg_json_double(w, "seconds", series->seconds);
	fg_json_double(w, "sampler_cost", series->sampler_cost);
	if (series->as_linked_metric) {
		fg_json_text(w, "as_linked_metric", series->as_linked_metric);
		fg_json_double(w, "as_linked", series->as_linked);
		fg_json_int(w, "layouts", series->layouts);
	}
	if (series->sampling.rate_hz > 0)
		write_sampling(&series->sampling, w);
	if (series->creep_window > 0 || series->creep_tolerated > 0) {
		fg_json_int(w, "creep_window", series->creep_window);
		fg_json_double(w, "creep_tolerated", series->creep_tolerated);
	}
	write_remarks(series, w);
	fg_json_end(w);
}

static void copy_text(char **to, const cJSON *json, const char *name)
{
	const char *text = fg_json_text_or(json, name, NULL);

	free(*to);
	*to = fg_xstrdup(text);
}

/* The number of layouts; a series without one was measured in four. */
static unsigned read_layouts(const cJSON *json)
{
	const double layouts = fg_json_double_or(json, "layouts", FG_LINE_PLACES);

	return layouts >= 1 && layouts <= FG_LAYOUTS_MAX ? (unsigned)layouts : FG_LINE_PLACES;
}

int fg_details_read(const cJSON *json, struct fg_series *series, struct fg_error *err)
{
	const char *state = fg_json_text_or(json, "state", "");
	const char *only = fg_json_text_or(json, "only_in", "");
	size_t i = 0;

	while (i < FG_ARRAY_SIZE(states) && strcmp(states[i], state) != 0)
		i++;
	if (i == FG_ARRAY_SIZE(states))
		return fg_error_set(
			err, FG_EPARSE,
			"benchmark '%s' has a state that this fastgate does not know: '%s'",
			series->name, state);
	series->state = (enum fg_measure_state)i;
	if (!fg_schedule_parse(fg_json_text_or(json, "schedule", "auto"), &series->schedule))
		series->schedule = FG_SCHEDULE_AUTO;
	copy_text(&series->failure, json, "failure");
	copy_text(&series->failure_tail, json, "failure_tail");
	copy_text(&series->schedule_reason, json, "schedule_reason");
	copy_text(&series->as_linked_metric, json, "as_linked_metric");
	series->as_linked = fg_json_double_or(json, "as_linked", (double)NAN);
	series->layouts = series->as_linked_metric ? read_layouts(json) : 0;
	series->only_in[FG_ARM_BASELINE] = strcmp(only, "baseline") == 0;
	series->only_in[FG_ARM_CANDIDATE] = strcmp(only, "candidate") == 0;
	series->identical = flag(json, "identical");
	series->unaffected = flag(json, "unaffected");
	series->creep_window =
		(unsigned)fmin(fmax(fg_json_double_or(json, "creep_window", 0), 0), INT_MAX);
	series->creep_tolerated = fg_json_double_or(json, "creep_tolerated", 0);
	copy_text(&series->affected, json, "affected");
	series->seconds = fg_json_double_or(json, "seconds", 0);
	series->sampler_cost = fg_json_double_or(json, "sampler_cost", (double)NAN);
	read_sampling(cJSON_GetObjectItemCaseSensitive(json, "sampling"), &series->sampling);
	for (i = 0; i < FG_REMARK_COUNT; i++)
		copy_text(&series->remarks[i], cJSON_GetObjectItemCaseSensitive(json, "remarks"),
			  remark_names[i]);
	return FG_OK;
}
