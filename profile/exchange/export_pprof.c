// SPDX-License-Identifier: Apache-2.0
/*
 * Writes profile.proto. A pprof location is an address with its chain of inlined frames, so the
 * frames of a stack are cut into such chains first: an inlined frame belongs to the location of its
 * caller. Samples with the same stack, thread and region become one sample; thread and region are
 * its labels (`-tagfocus`, `-tagroot`). Each measure is a sample type.
 */
#include "base/gzip.h"
#include "base/map.h"
#include "profile/exchange/export_formats.h"

#include <math.h>

/* ---- field numbers of profile.proto (perftools.profiles.Profile) ---- */

enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_TIME_NS = 9,
	PPROF_DURATION_NS = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_COMMENT = 13,
	PPROF_DEFAULT_TYPE = 14,
};

enum {
	PPROF_TYPE_NAME = 1,
	PPROF_TYPE_UNIT = 2
};
enum {
	PPROF_SAMPLE_LOCATION = 1,
	PPROF_SAMPLE_VALUE = 2
};
enum {
	PPROF_MAPPING_ID = 1,
	PPROF_MAPPING_START = 2,
	PPROF_MAPPING_LIMIT = 3,
	PPROF_MAPPING_FILE = 5,
	PPROF_MAPPING_BUILD_ID = 6,
	PPROF_MAPPING_HAS_FUNCTIONS = 7,
	PPROF_MAPPING_HAS_FILENAMES = 8,
	PPROF_MAPPING_HAS_LINES = 9,
	PPROF_MAPPING_HAS_INLINES = 10,
};
enum {
	PPROF_LOCATION_ID = 1,
	PPROF_LOCATION_MAPPING = 2,
	PPROF_LOCATION_ADDRESS = 3,
	PPROF_LOCATION_LINE = 4,
};
enum {
	PPROF_LINE_FUNCTION = 1,
	PPROF_LINE_NUMBER = 2
};
enum {
	PPROF_FUNCTION_ID = 1,
	PPROF_FUNCTION_NAME = 2,
	PPROF_FUNCTION_SYSTEM_NAME = 3,
	PPROF_FUNCTION_FILE = 4,
	PPROF_FUNCTION_START_LINE = 5,
};

/* ---- wire format, as far as a profile needs it; zero values are left out ---- */

static void add_varint(struct fg_strbuf *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	do {
		uint8_t byte = (uint8_t)(value & 0x7fU);

		value >>= 7;
		if (value != 0)
			byte |= 0x80U;
		bytes[count++] = byte;
	} while (value != 0);
	fg_strbuf_add(out, bytes, count);
}

enum wire {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
};

static void add_key(struct fg_strbuf *out, uint32_t field, enum wire wire)
{
	add_varint(out, ((uint64_t)field << 3U) | (uint64_t)wire);
}

static void add_uint(struct fg_strbuf *out, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	add_key(out, field, WIRE_VARINT);
	add_varint(out, value);
}

static void add_int(struct fg_strbuf *out, uint32_t field, int64_t value)
{
	add_uint(out, field, (uint64_t)value);
}

static void add_bytes(struct fg_strbuf *out, uint32_t field, const void *data, size_t size)
{
	add_key(out, field, WIRE_BYTES);
	add_varint(out, size);
	if (size > 0)
		fg_strbuf_add(out, data, size);
}

static void add_packed(struct fg_strbuf *out, uint32_t field, const uint64_t *values, size_t count)
{
	struct fg_strbuf packed = {0};

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		add_varint(&packed, values[i]);
	add_bytes(out, field, packed.data, packed.length);
	fg_strbuf_release(&packed);
}

struct sample_key {
	uint32_t stack;
	uint32_t thread;
	uint32_t region;
};

struct writer {
	const struct fg_profile *profile;
	struct fg_strbuf message;
	struct fg_strbuf scratch;
	struct fg_strbuf inner;
	struct fg_map strings;
	struct fg_map locations; /* chain of frames → id */
	struct fg_map libraries; /* library of frames without a module → mapping id */
	struct fg_map samples;   /* sample_key → its row in sums and counts */
	double *sums;            /* one value per measure in each row */
	uint64_t *counts;
	size_t sum_capacity, count_capacity;
	uint64_t *values; /* scratch, for one sample */
	bool *function_written;
	uint32_t *frames;
	size_t frame_capacity;
	uint64_t *ids;
	size_t id_capacity;
};

static uint64_t string_id(struct writer *w, const char *text)
{
	return *fg_map_add_text(&w->strings, text ? text : "", w->strings.count, NULL);
}

static void write_value_type(struct writer *w, uint32_t field, const char *type, const char *unit)
{
	fg_strbuf_clear(&w->scratch);
	add_uint(&w->scratch, PPROF_TYPE_NAME, string_id(w, type));
	add_uint(&w->scratch, PPROF_TYPE_UNIT, string_id(w, unit));
	add_bytes(&w->message, field, w->scratch.data, w->scratch.length);
}

/* Marks the mapping as having symbols, so that readers do not look for them. */
static void write_mapping(struct writer *w, uint64_t id, const struct fg_module_info *module)
{
	fg_strbuf_clear(&w->scratch);
	add_uint(&w->scratch, PPROF_MAPPING_ID, id);
	add_uint(&w->scratch, PPROF_MAPPING_LIMIT, module->end - module->start);
	add_uint(&w->scratch, PPROF_MAPPING_FILE, string_id(w, module->path));
	add_uint(&w->scratch, PPROF_MAPPING_BUILD_ID, string_id(w, module->build_id));
	add_uint(&w->scratch, PPROF_MAPPING_HAS_FUNCTIONS, 1);
	add_uint(&w->scratch, PPROF_MAPPING_HAS_FILENAMES, 1);
	add_uint(&w->scratch, PPROF_MAPPING_HAS_LINES, 1);
	add_uint(&w->scratch, PPROF_MAPPING_HAS_INLINES, 1);
	add_bytes(&w->message, PPROF_MAPPING, w->scratch.data, w->scratch.length);
}

/* Modules have the ids 1, 2, …; libraries known only by name follow. */
static uint64_t mapping_of(struct writer *w, const struct fg_frame *frame)
{
	const char *library = w->profile->functions[frame->function].library;
	const struct fg_module_info named = {.path = library, .build_id = ""};
	bool is_new = false;
	uint64_t id = 0;

	if (frame->module > 0)
		return frame->module;
	if (!library || !*library)
		return 0;
	id = w->profile->module_count + w->libraries.count + 1;
	id = *fg_map_add_text(&w->libraries, library, id, &is_new);
	if (is_new)
		write_mapping(w, id, &named);
	return id;
}

static void write_function(struct writer *w, const struct fg_frame *frame)
{
	const struct fg_profile_function *function = &w->profile->functions[frame->function];
	const char *linkage = function->linkage ? function->linkage : function->name;
	const char *file = function->file ? function->file : frame->file;

	if (w->function_written[frame->function])
		return;
	w->function_written[frame->function] = true;
	fg_strbuf_clear(&w->scratch);
	add_uint(&w->scratch, PPROF_FUNCTION_ID, (uint64_t)frame->function + 1);
	add_uint(&w->scratch, PPROF_FUNCTION_NAME, string_id(w, function->name));
	add_uint(&w->scratch, PPROF_FUNCTION_SYSTEM_NAME, string_id(w, linkage));
	add_uint(&w->scratch, PPROF_FUNCTION_FILE, string_id(w, file));
	add_uint(&w->scratch, PPROF_FUNCTION_START_LINE, function->line);
	add_bytes(&w->message, PPROF_FUNCTION, w->scratch.data, w->scratch.length);
}

/*
 * frames[0] is the function that contains the address; the other frames are inlined into it,
 * innermost last.
 */
static uint64_t location_of(struct writer *w, const uint32_t *frames, size_t count)
{
	const struct fg_frame *host = &w->profile->frames[frames[0]];
	const uint64_t next = w->locations.count + 1;
	uint64_t mapping = 0;
	bool is_new = false;
	const uint64_t id =
		*fg_map_add(&w->locations, frames, count * sizeof(*frames), next, &is_new);

	if (!is_new)
		return id;
	for (size_t i = 0; i < count; i++)
		write_function(w, &w->profile->frames[frames[i]]);
	mapping = mapping_of(w, host);
	fg_strbuf_clear(&w->scratch);
	add_uint(&w->scratch, PPROF_LOCATION_ID, id);
	add_uint(&w->scratch, PPROF_LOCATION_MAPPING, mapping);
	add_uint(&w->scratch, PPROF_LOCATION_ADDRESS, host->address);
	for (size_t i = count; i-- > 0;) {
		const struct fg_frame *frame = &w->profile->frames[frames[i]];

		fg_strbuf_clear(&w->inner);
		add_uint(&w->inner, PPROF_LINE_FUNCTION, (uint64_t)frame->function + 1);
		add_uint(&w->inner, PPROF_LINE_NUMBER, frame->line);
		add_bytes(&w->scratch, PPROF_LOCATION_LINE, w->inner.data, w->inner.length);
	}
	add_bytes(&w->message, PPROF_LOCATION, w->scratch.data, w->scratch.length);
	return id;
}

/* Writes the frames of a stack to w->frames, root first. Returns their number. */
static size_t list_frames(struct writer *w, uint32_t stack)
{
	const struct fg_stack *stacks = w->profile->stacks;
	size_t depth = 0;

	for (uint32_t at = stack; at != 0; at = stacks[at].parent)
		depth++;
	w->frames = fg_grow(w->frames, &w->frame_capacity, depth + 1, sizeof(w->frames[0]));
	for (size_t i = depth; i-- > 0; stack = stacks[stack].parent)
		w->frames[i] = stacks[stack].frame;
	return depth;
}

/* Writes the locations of a stack to w->ids, root first. Returns their number. */
static size_t locate(struct writer *w, uint32_t stack)
{
	const size_t depth = list_frames(w, stack);
	size_t count = 0;

	w->ids = fg_grow(w->ids, &w->id_capacity, depth + 1, sizeof(*w->ids));
	for (size_t start = 0, end = 0; start < depth; start = end) {
		end = start + 1;
		while (end < depth &&
		       (w->profile->frames[w->frames[end]].flags & FG_FRAME_INLINED) != 0)
			end++;
		w->ids[count++] = location_of(w, w->frames + start, end - start);
	}
	return count;
}

static void write_label(struct writer *w, const char *key, const char *value)
{
	enum {
		SAMPLE_LABEL = 3,
		LABEL_KEY = 1,
		LABEL_TEXT = 2
	};

	if (!value || !*value)
		return;
	fg_strbuf_clear(&w->inner);
	add_uint(&w->inner, LABEL_KEY, string_id(w, key));
	add_uint(&w->inner, LABEL_TEXT, string_id(w, value));
	add_bytes(&w->scratch, SAMPLE_LABEL, w->inner.data, w->inner.length);
}

/* A row's sample count comes from the first measure. */
static void write_sample(struct writer *w, const struct sample_key *key, size_t row)
{
	const struct fg_profile *profile = w->profile;
	const size_t count = locate(w, key->stack);

	for (size_t i = 0; i < count / 2; i++) { /* leaf first */
		const uint64_t swapped = w->ids[i];

		w->ids[i] = w->ids[count - 1 - i];
		w->ids[count - 1 - i] = swapped;
	}
	w->values[0] = w->counts[row];
	for (size_t i = 0; i < profile->measure_count; i++)
		w->values[i + 1] = (uint64_t)llround(w->sums[row * profile->measure_count + i]);
	fg_strbuf_clear(&w->scratch);
	add_packed(&w->scratch, PPROF_SAMPLE_LOCATION, w->ids, count);
	add_packed(&w->scratch, PPROF_SAMPLE_VALUE, w->values, profile->measure_count + 1);
	if (key->thread < profile->thread_count)
		write_label(w, "thread", profile->threads[key->thread].name);
	if (key->region > 0 && key->region < profile->region_count)
		write_label(w, "region", profile->regions[key->region].path);
	add_bytes(&w->message, PPROF_SAMPLE, w->scratch.data, w->scratch.length);
}

static void add_up(struct writer *w)
{
	const size_t width = w->profile->measure_count;

	for (size_t i = 0; i < w->profile->sample_count; i++) {
		const struct fg_sample *sample = &w->profile->samples[i];
		const enum fg_measure_fold fold = w->profile->measures[sample->measure].is.fold;
		double *sum = NULL;
		const struct sample_key key = {sample->stack, sample->thread, sample->region};
		bool is_new = false;
		const uint64_t at =
			*fg_map_add(&w->samples, &key, sizeof(key), w->samples.count, &is_new);

		w->sums = fg_grow(w->sums, &w->sum_capacity, w->samples.count * width,
				  sizeof(*w->sums));
		w->counts = fg_grow(w->counts, &w->count_capacity, w->samples.count,
				    sizeof(*w->counts));
		if (is_new) {
			memset(&w->sums[at * width], 0, width * sizeof(*w->sums));
			w->counts[at] = 0;
		}
		sum = &w->sums[at * width + sample->measure];
		*sum = fg_measure_join(fold, *sum, sample->value);
		if (sample->measure == 0)
			w->counts[at] += sample->count;
	}
}

static const char *type_of(const struct fg_measure *measure)
{
	static const struct {
		const char *measure;
		const char *type;
	} known[] = {
		{.measure = "cpu_time", .type = "cpu"},
		{.measure = "wall_time", .type = "wall"},
		{.measure = "heap.allocations", .type = "alloc_objects"},
		{.measure = "heap.bytes", .type = "alloc_space"},
		{.measure = "heap.live_blocks", .type = "inuse_objects"},
		{.measure = "heap.live", .type = "inuse_space"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(known); i++) {
		if (strcmp(measure->name, known[i].measure) == 0)
			return known[i].type;
	}
	return measure->name;
}

static const char *unit_of(const struct fg_measure *measure)
{
	if (fg_measure_has_time(measure))
		return "nanoseconds";
	return strcmp(measure->unit, "1") == 0 ? "count" : measure->unit;
}

static void write_message(struct writer *w, const struct fg_export_options *options)
{
	const struct fg_profile *profile = w->profile;
	const char *type = type_of(&profile->measures[0].is);

	(void)string_id(w, ""); /* string 0 is empty by definition */
	write_value_type(w, PPROF_SAMPLE_TYPE, "samples", "count");
	for (size_t i = 0; i < profile->measure_count; i++)
		write_value_type(w, PPROF_SAMPLE_TYPE, type_of(&profile->measures[i].is),
				 unit_of(&profile->measures[i].is));
	for (size_t i = 1; i < profile->module_count; i++)
		write_mapping(w, i, &profile->modules[i]);
	add_up(w);
	for (size_t i = 0; i < w->samples.count; i++) {
		struct sample_key key;

		memcpy(&key, w->samples.entries[i].key, sizeof(key));
		write_sample(w, &key, i);
	}
	add_int(&w->message, PPROF_TIME_NS, profile->started_wall_ns);
	add_int(&w->message, PPROF_DURATION_NS, profile->duration_ns);
	if (fg_measure_has_time(&profile->measures[0].is)) {
		write_value_type(w, PPROF_PERIOD_TYPE, type, "nanoseconds");
		add_uint(&w->message, PPROF_PERIOD, profile->period_ns);
	}
	add_uint(&w->message, PPROF_DEFAULT_TYPE, string_id(w, type));
	if (profile->title)
		add_uint(&w->message, PPROF_COMMENT, string_id(w, profile->title));
	if (options->tool_version)
		add_uint(&w->message, PPROF_COMMENT, string_id(w, options->tool_version));
	for (size_t i = 0; i < w->strings.count; i++)
		add_bytes(&w->message, PPROF_STRING, w->strings.entries[i].key,
			  w->strings.entries[i].key_length);
}

int fg_export_pprof(const struct fg_profile *profile, const struct fg_export_options *options,
		    struct fg_strbuf *out, struct fg_error *err)
{
	struct writer w = {
		.profile = profile,
		.function_written = fg_xcalloc(profile->function_count, sizeof(bool)),
		.values = fg_xcalloc(profile->measure_count + 1, sizeof(uint64_t)),
	};
	int status = FG_OK;

	write_message(&w, options);
	status = fg_gzip_pack(w.message.data, w.message.length, FG_GZIP_TIGHT, out, err);
	fg_strbuf_release(&w.message);
	fg_strbuf_release(&w.scratch);
	fg_strbuf_release(&w.inner);
	fg_map_release(&w.strings);
	fg_map_release(&w.locations);
	fg_map_release(&w.libraries);
	fg_map_release(&w.samples);
	free(w.sums);
	free(w.counts);
	free(w.values);
	free(w.function_written);
	free(w.frames);
	free(w.ids);
	return status;
}
