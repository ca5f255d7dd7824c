// SPDX-License-Identifier: Apache-2.0
/*
 * profile.proto.  Fields may come in any order, so the message is walked twice: first the tables
 * (strings, mappings, functions, locations) are laid out, then every sample is turned into a stack.
 * A location is the frames at one address, innermost first: all but the last of them were inlined.
 */
#include "base/map.h"
#include "profile/exchange/import_formats.h"
#include "profile/exchange/import_sink.h"
#include "profile/exchange/pprof_fields.h"
#include "profile/exchange/protobuf.h"

#include <inttypes.h>

enum {
	DEFAULT_PERIOD_NS = 1000000,
	MAX_TABLE = 1 << 24, /* strings, functions, locations: each */
	MAX_TYPES = 16,
	MAX_INLINED = 64, /* frames at one address */
	PPROF_FIELDS = 8, /* numbers of the fields that are read are below this */
};

struct function {
	uint64_t name;
	uint64_t system_name;
	uint64_t file;
	uint64_t line;
};

struct location {
	uint64_t mapping;
	uint64_t address;
	const uint8_t *data; /* the message again, for its lines */
	size_t size;
	uint32_t *frames; /* outermost first; NULL: not looked at yet */
	size_t frame_count;
};

struct value_type {
	uint64_t type;
	uint64_t unit;
};

/* A sample type that becomes a measure of the profile. */
struct taken {
	size_t at; /* index of its value */
	uint16_t measure;
	uint8_t kind;      /* enum fg_time_kind */
	double worth;      /* one of it in the measure's unit */
	size_t samples_at; /* the value that counts samples; SIZE_MAX: none */
};

struct reader {
	struct fg_import_sink *sink;
	struct fg_arena arena;
	struct fg_text *strings;
	size_t string_count;
	size_t string_capacity;
	struct function *functions;
	size_t function_count;
	size_t function_capacity;
	struct location *locations;
	size_t location_count;
	size_t location_capacity;
	struct fg_map function_ids; /* id → index */
	struct fg_map location_ids;
	struct fg_map mapping_files; /* id → string */
	struct value_type types[MAX_TYPES];
	size_t type_count;
	struct value_type period_type;
	uint64_t period;
	uint64_t default_type;
	struct taken taken[MAX_TYPES];
	size_t taken_count;
	uint64_t *values; /* scratch: the values of a sample */
	size_t value_count;
	size_t value_capacity;
	uint64_t *stack; /* scratch: its locations, leaf first */
	size_t depth;
	size_t stack_capacity;
};

static int broken(struct fg_error *err, const char *what)
{
	return fg_error_set(err, FG_EPARSE, "broken %s in the pprof message", what);
}

static int too_many(struct fg_error *err, const char *what)
{
	return fg_error_set(err, FG_ELIMIT, "more than %d %s in the pprof message", MAX_TABLE,
			    what);
}

static struct fg_text string_at(const struct reader *reader, uint64_t index)
{
	if (index >= reader->string_count)
		return (struct fg_text){"", 0};
	return reader->strings[index];
}

static bool is_text(struct fg_text slice, const char *text)
{
	return slice.length == strlen(text) && memcmp(slice.text, text, slice.length) == 0;
}

/* The plain numbers of a message, by field; what is missing is 0.  False: the message is broken. */
static bool read_numbers(const uint8_t *data, size_t size, uint64_t numbers[PPROF_FIELDS])
{
	struct fg_protobuf_reader message;
	struct fg_protobuf_field inner;

	memset(numbers, 0, PPROF_FIELDS * sizeof(numbers[0]));
	fg_protobuf_reader_init(&message, data, size);
	while (fg_protobuf_next(&message, &inner))
		if (inner.number < PPROF_FIELDS)
			numbers[inner.number] = inner.value;
	return !message.broken;
}

static int read_value_type(const struct fg_protobuf_field *field, struct value_type *type,
			   struct fg_error *err)
{
	uint64_t numbers[PPROF_FIELDS];

	if (!read_numbers(field->data, field->size, numbers))
		return broken(err, "value type");
	*type = (struct value_type){numbers[PPROF_TYPE_NAME], numbers[PPROF_TYPE_UNIT]};
	return FG_OK;
}

static int read_mapping(struct reader *reader, const struct fg_protobuf_field *field,
			struct fg_error *err)
{
	uint64_t numbers[PPROF_FIELDS];

	if (!read_numbers(field->data, field->size, numbers))
		return broken(err, "mapping");
	if (reader->mapping_files.count >= MAX_TABLE)
		return too_many(err, "mappings");
	(void)fg_map_add(&reader->mapping_files, &numbers[PPROF_MAPPING_ID], sizeof(numbers[0]),
			 numbers[PPROF_MAPPING_FILE], NULL);
	return FG_OK;
}

static int read_function(struct reader *reader, const struct fg_protobuf_field *field,
			 struct fg_error *err)
{
	uint64_t numbers[PPROF_FIELDS];

	if (!read_numbers(field->data, field->size, numbers))
		return broken(err, "function");
	if (reader->function_count >= MAX_TABLE)
		return too_many(err, "functions");
	(void)fg_map_add(&reader->function_ids, &numbers[PPROF_FUNCTION_ID], sizeof(numbers[0]),
			 reader->function_count, NULL);
	reader->functions = fg_grow(reader->functions, &reader->function_capacity,
				    reader->function_count + 1, sizeof(*reader->functions));
	reader->functions[reader->function_count++] = (struct function){
		.name = numbers[PPROF_FUNCTION_NAME],
		.system_name = numbers[PPROF_FUNCTION_SYSTEM_NAME],
		.file = numbers[PPROF_FUNCTION_FILE],
		.line = numbers[PPROF_FUNCTION_START_LINE],
	};
	return FG_OK;
}

static int read_location(struct reader *reader, const struct fg_protobuf_field *field,
			 struct fg_error *err)
{
	uint64_t numbers[PPROF_FIELDS];

	if (!read_numbers(field->data, field->size, numbers))
		return broken(err, "location");
	if (reader->location_count >= MAX_TABLE)
		return too_many(err, "locations");
	(void)fg_map_add(&reader->location_ids, &numbers[PPROF_LOCATION_ID], sizeof(numbers[0]),
			 reader->location_count, NULL);
	reader->locations = fg_grow(reader->locations, &reader->location_capacity,
				    reader->location_count + 1, sizeof(*reader->locations));
	reader->locations[reader->location_count++] = (struct location){
		.mapping = numbers[PPROF_LOCATION_MAPPING],
		.address = numbers[PPROF_LOCATION_ADDRESS],
		.data = field->data,
		.size = field->size,
	};
	return FG_OK;
}

static int read_string(struct reader *reader, const struct fg_protobuf_field *field,
		       struct fg_error *err)
{
	if (reader->string_count >= MAX_TABLE)
		return too_many(err, "strings");
	reader->strings = fg_grow(reader->strings, &reader->string_capacity,
				  reader->string_count + 1, sizeof(*reader->strings));
	reader->strings[reader->string_count++] =
		(struct fg_text){(const char *)field->data, field->size};
	return FG_OK;
}

static int read_type(struct reader *reader, const struct fg_protobuf_field *field,
		     struct fg_error *err)
{
	if (reader->type_count >= MAX_TYPES)
		return fg_error_set(err, FG_ELIMIT, "more than %d values a sample", MAX_TYPES);
	return read_value_type(field, &reader->types[reader->type_count++], err);
}

static int read_table_field(struct reader *reader, const struct fg_protobuf_field *field,
			    struct fg_error *err)
{
	if (field->number == PPROF_PERIOD)
		reader->period = field->value;
	if (field->number == PPROF_DEFAULT_TYPE)
		reader->default_type = field->value;
	if (field->wire != FG_WIRE_BYTES)
		return FG_OK;
	switch (field->number) {
	case PPROF_SAMPLE_TYPE:
		return read_type(reader, field, err);
	case PPROF_MAPPING:
		return read_mapping(reader, field, err);
	case PPROF_LOCATION:
		return read_location(reader, field, err);
	case PPROF_FUNCTION:
		return read_function(reader, field, err);
	case PPROF_STRING:
		return read_string(reader, field, err);
	case PPROF_PERIOD_TYPE:
		return read_value_type(field, &reader->period_type, err);
	default:
		return FG_OK;
	}
}

/* Nanoseconds in one of a unit; 0: not a unit of time. */
static double unit_ns(struct fg_text unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{"nanoseconds", 1},    {"ns", 1},   {"microseconds", 1e3}, {"us", 1e3},
		{"milliseconds", 1e6}, {"ms", 1e6}, {"seconds", 1e9},      {"s", 1e9},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(units); i++) {
		if (is_text(unit, units[i].name))
			return units[i].ns;
	}
	return 0;
}

static bool is_count(struct fg_text unit)
{
	return unit.length == 0 || is_text(unit, "count") || is_text(unit, "samples");
}

static size_t find_type(const struct reader *reader, const char *name, size_t length)
{
	for (size_t i = 0; i < reader->type_count; i++) {
		const struct fg_text type = string_at(reader, reader->types[i].type);

		if (type.length == length && memcmp(type.text, name, length) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* The value asked for, or the file's default, or the first that is time, or the last. */
static int choose_first(const struct reader *reader, const char *wanted, size_t *first,
			struct fg_error *err)
{
	const struct fg_text named = string_at(reader, reader->default_type);
	size_t at = SIZE_MAX;

	if (reader->type_count == 0)
		return fg_error_set(err, FG_EPARSE, "the pprof message names no sample type");
	if (wanted) {
		at = find_type(reader, wanted, strlen(wanted));
		if (at == SIZE_MAX)
			return fg_error_set(err, FG_EINVAL,
					    "the profile has no value '%.100s'; its last is '%.*s'",
					    wanted, (int)fg_min_size(named.length, 100),
					    named.text);
	}
	if (at == SIZE_MAX && named.length > 0)
		at = find_type(reader, named.text, named.length);
	for (size_t i = 0; i < reader->type_count && at == SIZE_MAX; i++) {
		if (unit_ns(string_at(reader, reader->types[i].unit)) > 0)
			at = i;
	}
	*first = at == SIZE_MAX ? reader->type_count - 1 : at;
	return FG_OK;
}

static bool counts_samples(const struct reader *reader, size_t type)
{
	const struct fg_text name = string_at(reader, reader->types[type].type);

	return is_count(string_at(reader, reader->types[type].unit)) &&
	       (name.length == 0 || is_text(name, "samples") || is_text(name, "sample"));
}

/* Writers put the count of a value before the value. */
static size_t samples_of(const struct reader *reader, size_t type)
{
	for (size_t i = type + 1; i-- > 0;) {
		if (is_count(string_at(reader, reader->types[i].unit)))
			return i;
	}
	for (size_t i = type + 1; i < reader->type_count; i++) {
		if (is_count(string_at(reader, reader->types[i].unit)))
			return i;
	}
	return SIZE_MAX;
}

/* The time of one sample where a file only counts them: its period, or the one given. */
static double period_ns(struct reader *reader, const struct fg_import_options *options)
{
	const double own =
		(double)reader->period * unit_ns(string_at(reader, reader->period_type.unit));

	if (options->period_ns > 0)
		return (double)options->period_ns;
	if (own > 0)
		return own;
	fg_profile_add_note(reader->sink->profile,
			    "the profile counts samples and does not say how far apart they "
			    "are: each is taken as 1 ms (--period changes it)");
	return DEFAULT_PERIOD_NS;
}

static size_t count_times(const struct reader *reader)
{
	size_t count = 0;

	for (size_t i = 0; i < reader->type_count; i++)
		count += unit_ns(string_at(reader, reader->types[i].unit)) > 0;
	return count;
}

/* Time by whatever name is CPU time, unless it says "wall" or there are several times. */
static const char *measure_name(const struct reader *reader, size_t type)
{
	const struct fg_text name = string_at(reader, reader->types[type].type);

	if (is_text(name, "wall"))
		return "wall_time";
	if (is_text(name, "cpu") || count_times(reader) == 1)
		return "cpu_time";
	return fg_sink_text(reader->sink, name);
}

/* A type as a measure, the first one in place of the profile's own. */
static void take_type(struct reader *reader, size_t type, const struct fg_import_options *options)
{
	const struct fg_text unit = string_at(reader, reader->types[type].unit);
	const char *name = fg_sink_text(reader->sink, string_at(reader, reader->types[type].type));
	struct taken *taken = &reader->taken[reader->taken_count];
	struct fg_measure measure;

	*taken = (struct taken){
		.at = type,
		.kind = FG_TIME_BOTH,
		.worth = unit_ns(unit),
		.samples_at = samples_of(reader, type),
	};
	if (taken->worth > 0) {
		name = measure_name(reader, type);
		measure = fg_measure_describe(name ? name : "time", "ns");
		taken->kind = strcmp(measure.name, "wall_time") == 0 ? FG_TIME_WALL : FG_TIME_BOTH;
	} else if (counts_samples(reader, type)) {
		measure = fg_measure_describe("cpu_time", NULL);
		taken->worth = period_ns(reader, options);
	} else {
		measure = fg_measure_describe(name ? name : "values",
					      is_count(unit) ? "1"
							     : fg_sink_text(reader->sink, unit));
		taken->worth = 1;
	}
	if (reader->taken_count++ == 0)
		fg_profile_set_first_measure(reader->sink->profile, &measure);
	taken->measure = fg_profile_measure(reader->sink->profile, &measure);
}

/* All types but the count of samples, which every sample carries anyway. */
static int take_types(struct reader *reader, const struct fg_import_options *options,
		      struct fg_error *err)
{
	size_t first = 0;
	const int status = choose_first(reader, options->value, &first, err);

	if (status != FG_OK)
		return status;
	take_type(reader, first, options);
	for (size_t i = 0; i < reader->type_count; i++) {
		if (i != first && !counts_samples(reader, i))
			take_type(reader, i, options);
	}
	return FG_OK;
}

static struct fg_text mapping_file(const struct reader *reader, uint64_t mapping)
{
	const uint64_t *file = fg_map_get(&reader->mapping_files, &mapping, sizeof(mapping));

	return file ? string_at(reader, *file) : (struct fg_text){"", 0};
}

struct line {
	uint64_t function;
	uint64_t number;
};

/* One frame of a location; `inlined`: into the next one outwards. */
static int add_line(struct reader *reader, const struct location *location, struct line line,
		    bool inlined, uint32_t *index, struct fg_error *err)
{
	const uint64_t *at =
		fg_map_get(&reader->function_ids, &line.function, sizeof(line.function));
	struct fg_perf_frame frame = {
		.library = mapping_file(reader, location->mapping),
		.line = line.number,
		.address = location->address,
		.inlined = inlined,
	};

	if (at) {
		const struct function *function = &reader->functions[*at];

		frame.name = string_at(reader, function->name);
		frame.linkage = string_at(reader, function->system_name);
		frame.file = string_at(reader, function->file);
		frame.function_line = function->line;
	}
	return fg_sink_frame(reader->sink, &frame, index, err);
}

/* An address without a name: what the old tools print, module and address, is the best there is. */
static int add_address(struct reader *reader, const struct location *location, uint32_t *index,
		       struct fg_error *err)
{
	char name[32];
	const int length = snprintf(name, sizeof(name), "0x%" PRIx64, location->address);
	const struct fg_perf_frame frame = {
		.name = {name, (size_t)length},
		.library = mapping_file(reader, location->mapping),
		.address = location->address,
		.nameless = true,
	};

	return fg_sink_frame(reader->sink, &frame, index, err);
}

static int location_lines(const struct location *location, struct line *lines, size_t *count,
			  struct fg_error *err)
{
	struct fg_protobuf_reader message;
	struct fg_protobuf_field field;

	fg_protobuf_reader_init(&message, location->data, location->size);
	while (fg_protobuf_next(&message, &field)) {
		uint64_t numbers[PPROF_FIELDS];

		if (field.number != PPROF_LOCATION_LINE || field.wire != FG_WIRE_BYTES)
			continue;
		if (*count == MAX_INLINED)
			return fg_error_set(err, FG_ELIMIT, "more than %d frames at one address",
					    MAX_INLINED);
		if (!read_numbers(field.data, field.size, numbers))
			return broken(err, "line");
		lines[*count] =
			(struct line){numbers[PPROF_LINE_FUNCTION], numbers[PPROF_LINE_NUMBER]};
		(*count)++;
	}
	return FG_OK;
}

/* Frames of a location, made when a sample first needs them. */
static int resolve(struct reader *reader, struct location *location, struct fg_error *err)
{
	struct line lines[MAX_INLINED];
	size_t count = 0;
	int status = location_lines(location, lines, &count, err);

	if (status != FG_OK)
		return status;
	location->frame_count = count > 0 ? count : 1;
	location->frames =
		fg_arena_array(&reader->arena, location->frame_count, sizeof(*location->frames));
	if (count == 0)
		return add_address(reader, location, &location->frames[0], err);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = add_line(reader, location, lines[count - 1 - i], i > 0,
				  &location->frames[i], err);
	return status;
}

/* A repeated integer: packed, or one at a time. */
static int take_integers(const struct fg_protobuf_field *field, uint64_t **values, size_t *count,
			 size_t *capacity, struct fg_error *err)
{
	struct fg_protobuf_reader packed;
	uint64_t value = field->value;
	const bool is_packed = field->wire == FG_WIRE_BYTES;

	fg_protobuf_reader_init(&packed, field->data, field->size);
	while (!is_packed || fg_protobuf_varint(&packed, &value)) {
		if (*count >= FG_IMPORT_MAX_DEPTH)
			return fg_error_set(err, FG_ELIMIT, "a stack of more than %d frames",
					    FG_IMPORT_MAX_DEPTH);
		*values = fg_grow(*values, capacity, *count + 1, sizeof(**values));
		(*values)[(*count)++] = value;
		if (!is_packed)
			return FG_OK;
	}
	return packed.broken ? broken(err, "sample") : FG_OK;
}

static int push_stack(struct reader *reader, struct fg_error *err)
{
	fg_sink_begin(reader->sink);
	for (size_t i = reader->depth; i-- > 0;) {
		const uint64_t *at = fg_map_get(&reader->location_ids, &reader->stack[i],
						sizeof(reader->stack[i]));
		struct location *location = at ? &reader->locations[*at] : NULL;
		int status = FG_OK;

		if (!location)
			return fg_error_set(err, FG_EPARSE,
					    "a sample names location %" PRIu64
					    ", which is not in the file",
					    reader->stack[i]);
		if (!location->frames)
			status = resolve(reader, location, err);
		for (size_t f = 0; f < location->frame_count && status == FG_OK; f++)
			status = fg_sink_push(reader->sink, location->frames[f], err);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

static void add_values(struct reader *reader)
{
	for (size_t i = 0; i < reader->taken_count; i++) {
		const struct taken *taken = &reader->taken[i];
		const double value = (double)reader->values[taken->at] * taken->worth;
		const double samples = taken->samples_at != SIZE_MAX
					       ? (double)reader->values[taken->samples_at]
					       : 1;
		struct fg_sample *sample =
			fg_sink_end(reader->sink, taken->measure, value, samples);

		if (sample)
			sample->kind = taken->kind;
	}
}

static int read_sample(struct reader *reader, const struct fg_protobuf_field *field,
		       struct fg_error *err)
{
	struct fg_protobuf_reader message;
	struct fg_protobuf_field inner;
	int status = FG_OK;

	reader->depth = 0;
	reader->value_count = 0;
	fg_protobuf_reader_init(&message, field->data, field->size);
	while (status == FG_OK && fg_protobuf_next(&message, &inner)) {
		if (inner.number == PPROF_SAMPLE_LOCATION)
			status = take_integers(&inner, &reader->stack, &reader->depth,
					       &reader->stack_capacity, err);
		else if (inner.number == PPROF_SAMPLE_VALUE)
			status = take_integers(&inner, &reader->values, &reader->value_count,
					       &reader->value_capacity, err);
	}
	if (status != FG_OK)
		return status;
	if (message.broken || !reader->values || reader->value_count != reader->type_count)
		return broken(err, "sample");
	for (size_t i = 0; i < reader->taken_count; i++) {
		if ((int64_t)reader->values[reader->taken[i].at] < 0)
			return fg_error_set(
				err, FG_EUNSUPPORTED,
				"a sample has a negative value: a difference cannot be read");
	}
	status = push_stack(reader, err);
	if (status != FG_OK)
		return status;
	add_values(reader);
	return FG_OK;
}

static int read_message(struct reader *reader, const void *data, size_t size,
			const struct fg_import_options *options, struct fg_error *err)
{
	struct fg_protobuf_reader message;
	struct fg_protobuf_field field;
	int status = FG_OK;

	fg_protobuf_reader_init(&message, data, size);
	while (status == FG_OK && fg_protobuf_next(&message, &field))
		status = read_table_field(reader, &field, err);
	if (status != FG_OK)
		return status;
	if (message.broken)
		return broken(err, "field");
	status = take_types(reader, options, err);
	fg_protobuf_reader_init(&message, data, size);
	while (status == FG_OK && fg_protobuf_next(&message, &field)) {
		if (field.number == PPROF_SAMPLE && field.wire == FG_WIRE_BYTES)
			status = read_sample(reader, &field, err);
	}
	return status;
}

/* The first field is a sample type (0x0a) as every known writer has it. */
bool fg_import_pprof_is(const char *data, size_t size)
{
	return size > 2 && data[0] == 0x0a && data[2] == 0x08;
}

int fg_import_pprof_read(const char *data, size_t size, const struct fg_import_options *options,
			 struct fg_import_sink *sink, struct fg_error *err)
{
	struct reader reader = {.sink = sink};
	const int status = read_message(&reader, data, size, options, err);

	fg_arena_release(&reader.arena);
	fg_map_release(&reader.function_ids);
	fg_map_release(&reader.location_ids);
	fg_map_release(&reader.mapping_files);
	free(reader.strings);
	free(reader.functions);
	free(reader.locations);
	free(reader.values);
	free(reader.stack);
	return status;
}
