// SPDX-License-Identifier: Apache-2.0
/*
 * The report may come over a network, so at most `room` is read, and call paths with unknown frames
 * are skipped.
 */
#include "reporters/arguments.h"

#include <math.h>
#include <string.h>

struct reader {
	struct fg_argument_room *room;
	struct fg_arena *arena;
	struct fg_argument_table *table;
	struct fg_map texts; /* cleaned names */
};

/* 2^53, up to which doubles represent every integer */
static const double max_counted = 9007199254740992.0;

static double read_count(const cJSON *object, const char *name)
{
	const double value = fg_json_double_or(object, name, 0);

	return value >= 0 && value <= max_counted ? floor(value) : 0;
}

static const cJSON *elements(const cJSON *object, const char *name, size_t *count)
{
	const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, name);

	*count = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
	return *count > 0 ? array->child : NULL;
}

/* Returns the number of elements not taken, including elements that the report itself omits. */
static size_t left_out(const cJSON *object, const char *name, size_t there, size_t taken)
{
	const double all = read_count(object, name) + (double)(there - taken);

	return (size_t)fmin(all, max_counted);
}

static const char *read_text(struct reader *r, const cJSON *object, const char *name)
{
	return fg_arena_strdup(r->arena,
			       fg_argument_name(&r->texts, fg_json_text_or(object, name, "")));
}

/* Reads the figures of one side; NULL if the side never calls the function. */
static struct fg_argument_figures *read_figures(struct reader *r, const cJSON *object,
						const char *name)
{
	const cJSON *from = cJSON_GetObjectItemCaseSensitive(object, name);
	struct fg_argument_figures *seen = NULL;

	if (!cJSON_IsObject(from))
		return NULL;
	seen = fg_arena_alloc(r->arena, sizeof(*seen));
	seen->values = read_count(from, "calls");
	seen->least = fg_json_double_or(from, "min", (double)NAN);
	seen->most = fg_json_double_or(from, "max", (double)NAN);
	seen->zeros = read_count(from, "zeros");
	seen->negatives = read_count(from, "negative");
	seen->denormals = read_count(from, "denormal");
	seen->infinities = read_count(from, "infinite");
	seen->nans = read_count(from, "nan");
	seen->repeats = read_count(from, "repeats");
	seen->sum = fg_json_double_or(from, "mean", (double)NAN) * fg_argument_finite(seen);
	return seen;
}

/* Reads [exponent, calls of the baseline, calls of the candidate]. */
static void read_bin(const cJSON *bin, struct fg_argument_figures *const sides[2])
{
	const cJSON *item = cJSON_IsArray(bin) ? bin->child : NULL;
	double numbers[3] = {(double)NAN, 0, 0};
	double place = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers) && item; i++, item = item->next)
		numbers[i] = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
	place = numbers[0] + FG_ARGUMENT_BIN_OF_ONE;
	if (!(place >= 0) || !(place < FG_ARGUMENT_BINS))
		return;
	for (unsigned side = 0; side < 2; side++) {
		const double count = numbers[side + 1];

		if (sides[side] && count > 0 && count <= max_counted)
			sides[side]->bins[(size_t)place] = floor(count);
	}
}

/* Reads the frames as indexes of names. Returns false if a frame has no name. */
static bool read_frames(struct reader *r, const cJSON *frame, struct fg_argument_path *path)
{
	for (size_t i = 0; i < path->frame_count; i++, frame = frame->next) {
		const double place = cJSON_IsNumber(frame) ? frame->valuedouble : -1;

		if (!(place >= 0) || !(place < (double)r->table->name_count))
			return false;
		path->frames[i] = (uint32_t)place;
	}
	return true;
}

static bool read_path(struct reader *r, const cJSON *object, struct fg_argument_path *path)
{
	struct fg_argument_figures *sides[2];
	size_t count = 0;
	const cJSON *frames = elements(object, "frames", &count);

	count = fg_min_size(count, FG_ARGUMENT_FRAMES_MAX);
	if (!cJSON_IsObject(object) || !fg_argument_room_for_path(r->room, count))
		return false;
	*path = (struct fg_argument_path){
		.frames = fg_arena_array(r->arena, count, sizeof(path->frames[0])),
		.frame_count = count,
		.frames_left_out = (size_t)read_count(object, "frames_left_out"),
	};
	if (!read_frames(r, frames, path))
		return false;
	path->sides[0] = sides[0] = read_figures(r, object, "baseline");
	path->sides[1] = sides[1] = read_figures(r, object, "candidate");
	for (const cJSON *bin = elements(object, "histogram", &count); bin; bin = bin->next)
		read_bin(bin, sides);
	return true;
}

static void read_function(struct reader *r, const cJSON *object,
			  struct fg_argument_function *function)
{
	size_t there = 0;
	size_t sides = 0;
	const cJSON *path = elements(object, "paths", &there);
	const cJSON *traces = elements(object, "traces", &sides);
	const size_t count = fg_min_size(there, FG_ARGUMENT_PATHS_MAX);

	function->name = read_text(r, object, "name");
	function->signature = read_text(r, object, "signature");
	function->sides[0] = read_figures(r, object, "baseline");
	function->sides[1] = read_figures(r, object, "candidate");
	for (unsigned side = 0; side < 2 && traces; side++, traces = traces->next) {
		if (traces->valuedouble >= 0 && traces->valuedouble <= max_counted)
			function->traces[side] = (size_t)traces->valuedouble;
	}
	function->paths = fg_arena_array(r->arena, fg_min_size(count, r->room->paths),
					 sizeof(function->paths[0]));
	for (size_t i = 0; i < count && r->room->paths > 0; i++, path = path->next)
		function->path_count += read_path(r, path, &function->paths[function->path_count]);
	function->paths_left_out = left_out(object, "paths_left_out", there, function->path_count);
}

static void read_names(struct reader *r, const cJSON *object)
{
	struct fg_argument_table *table = r->table;
	size_t count = 0;
	size_t capacity = 0;
	const cJSON *item = elements(object, "names", &count);

	for (; cJSON_IsString(item); item = item->next) {
		const char *name = fg_argument_name(&r->texts, item->valuestring);

		if (!fg_argument_room_for_name(r->room, name))
			return;
		table->names = fg_arena_grow(r->arena, table->names, &capacity, table->name_count,
					     sizeof(table->names[0]));
		table->names[table->name_count++] = fg_arena_strdup(r->arena, name);
	}
}

const struct fg_argument_table *
fg_report_read_arguments(const cJSON *object, struct fg_argument_room *room, struct fg_arena *arena)
{
	struct reader r = {.room = room, .arena = arena};
	size_t there = 0;
	const cJSON *function = elements(object, "functions", &there);
	const size_t most = fg_min_size(room->functions, FG_ARGUMENT_FUNCTIONS_MAX);
	const size_t count = fg_min_size(there, most);

	if (!cJSON_IsObject(object))
		return NULL;
	room->functions -= count;
	r.table = fg_arena_alloc(arena, sizeof(*r.table));
	read_names(&r, object);
	r.table->functions_left_out = left_out(object, "functions_left_out", there, count);
	r.table->functions = fg_arena_array(arena, count, sizeof(r.table->functions[0]));
	for (; r.table->function_count < count; function = function->next)
		read_function(&r, function, &r.table->functions[r.table->function_count++]);
	fg_map_release(&r.texts);
	return r.table;
}
