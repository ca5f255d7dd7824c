// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"
#include "base/text.h"
#include "model/arguments.h"

#include <stdlib.h>
#include <string.h>

static const struct fg_argument_figures nothing;

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

const char *fg_argument_name(struct fg_map *names, const char *name)
{
	struct fg_strbuf clean = {0};
	size_t at = 0;

	fg_text_add_clean(&clean, name, strlen(name), FG_ARGUMENT_NAME_MAX);
	at = (size_t)*fg_map_add_text(names, fg_strbuf_text(&clean), names->count, NULL);
	fg_strbuf_release(&clean);
	return names->entries[at].key;
}

static uint32_t function_of(struct fg_argument_sums *sums, const char *name, const char *signature)
{
	const char *kept = fg_argument_name(&sums->names, name);
	bool is_new = false;
	const size_t at = (size_t)*fg_map_add_text(&sums->function_index, kept,
						   sums->function_count, &is_new);

	if (!is_new)
		return (uint32_t)at;
	sums->functions = fg_arena_grow(&sums->arena, sums->functions, &sums->function_capacity,
					sums->function_count, sizeof(sums->functions[0]));
	sums->functions[sums->function_count++] = (struct fg_argument_sum){
		.name = kept,
		.signature = fg_argument_name(&sums->names, signature ? signature : ""),
	};
	return (uint32_t)at;
}

static struct fg_argument_path_sum *path_of(struct fg_argument_sums *sums,
					    const struct fg_argument_path_sum *key)
{
	const size_t size = key->frame_count * sizeof(key->frames[0]);
	struct fg_strbuf words = {0};
	bool is_new = false;
	size_t at = 0;

	fg_strbuf_add(&words, &key->function, sizeof(key->function));
	fg_strbuf_add(&words, &key->frames_left_out, sizeof(key->frames_left_out));
	fg_strbuf_add(&words, key->frames, size);
	at = (size_t)*fg_map_add(&sums->path_index, words.data, words.length, sums->path_count,
				 &is_new);
	fg_strbuf_release(&words);
	if (!is_new)
		return &sums->paths[at];
	sums->paths = fg_arena_grow(&sums->arena, sums->paths, &sums->path_capacity,
				    sums->path_count, sizeof(sums->paths[0]));
	sums->paths[sums->path_count] = *key;
	sums->paths[sums->path_count].frames = fg_arena_memdup(&sums->arena, key->frames, size);
	sums->functions[key->function].path_count++;
	return &sums->paths[sums->path_count++];
}

/* Adds figures to a side. Returns true if the side had no figures yet. */
static bool join_side(struct fg_argument_sums *sums, struct fg_argument_figures **side,
		      const struct fg_argument_figures *more)
{
	const bool is_new = !*side;

	if (is_new)
		*side = fg_arena_memdup(&sums->arena, &nothing, sizeof(nothing));
	fg_argument_join(*side, more);
	return is_new;
}

/* Keeps the outermost and innermost frames of a deep path; `frames` has room for them. */
static size_t keep_frames(struct fg_argument_sums *sums, const struct fg_argument_call *call,
			  const char **frames)
{
	const size_t kept = fg_min_size(call->frame_count, FG_ARGUMENT_FRAMES_MAX);
	const size_t left_out = call->frame_count - kept;

	for (size_t i = 0; i < kept; i++)
		frames[i] = fg_argument_name(
			&sums->names,
			call->frames[i < FG_ARGUMENT_FRAMES_OUTER ? i : i + left_out]);
	return left_out;
}

void fg_argument_sums_add(struct fg_argument_sums *sums, const struct fg_argument_call *call)
{
	const char *frames[FG_ARGUMENT_FRAMES_MAX];
	struct fg_argument_path_sum key = {
		.function = function_of(sums, call->name, call->signature),
		.frames = frames,
		.frame_count = fg_min_size(call->frame_count, FG_ARGUMENT_FRAMES_MAX),
		.frames_left_out = keep_frames(sums, call, frames),
	};
	struct fg_argument_path_sum *path = path_of(sums, &key);
	struct fg_argument_sum *function = &sums->functions[path->function];

	(void)join_side(sums, &function->sides[call->side], call->figures);
	function->traces[call->side] += join_side(sums, &path->sides[call->side], call->figures);
}

/* The table's figures for a function already cover all its paths. */
static void add_path_of_table(struct fg_argument_sums *sums, const struct fg_argument_table *table,
			      uint32_t function, const struct fg_argument_path *path, unsigned from,
			      unsigned to)
{
	const char *frames[FG_ARGUMENT_FRAMES_MAX];
	const struct fg_argument_path_sum key = {
		.function = function,
		.frames = frames,
		.frame_count = path->frame_count,
		.frames_left_out = path->frames_left_out,
	};

	if (!path->sides[from])
		return;
	for (size_t i = 0; i < path->frame_count; i++)
		frames[i] = fg_argument_name(&sums->names, table->names[path->frames[i]]);
	(void)join_side(sums, &path_of(sums, &key)->sides[to], path->sides[from]);
}

void fg_argument_sums_add_table(struct fg_argument_sums *sums,
				const struct fg_argument_table *table, unsigned from, unsigned to)
{
	for (size_t i = 0; i < table->function_count; i++) {
		const struct fg_argument_function *function = &table->functions[i];
		uint32_t at = 0;

		if (!function->sides[from])
			continue;
		at = function_of(sums, function->name, function->signature);
		(void)join_side(sums, &sums->functions[at].sides[to], function->sides[from]);
		sums->functions[at].traces[to] += function->traces[from];
		sums->functions[at].paths_left_out =
			larger(sums->functions[at].paths_left_out, function->paths_left_out);
		for (size_t k = 0; k < function->path_count; k++)
			add_path_of_table(sums, table, at, &function->paths[k], from, to);
	}
	sums->functions_left_out = larger(sums->functions_left_out, table->functions_left_out);
}

void fg_argument_sums_release(struct fg_argument_sums *sums)
{
	fg_map_release(&sums->names);
	fg_map_release(&sums->function_index);
	fg_map_release(&sums->path_index);
	fg_arena_release(&sums->arena);
	*sums = (struct fg_argument_sums){0};
}

/* ---- sorting ---- */

enum {
	EITHER_SIDE = 2
};

/* An index into the sums, and the number of calls: of one side, or of the side with more calls. */
struct place {
	size_t at;
	double calls;
};

static double calls_of(struct fg_argument_figures *const sides[2], unsigned side)
{
	double most = 0;

	for (unsigned i = 0; i < 2; i++) {
		if ((i == side || side == EITHER_SIDE) && sides[i] && sides[i]->values > most)
			most = sides[i]->values;
	}
	return most;
}

FG_ORDER_BY(most_calls_first, struct place, FG_DOWN(calls), FG_UP(at))

/*
 * Lists the items that this side calls, most calls first. Items are `size` bytes apart and have
 * their sides at `offset`.
 */
static struct place *order(const void *items, size_t item_count, size_t size, size_t offset,
			   unsigned side, size_t *count)
{
	struct place *places = fg_xcalloc(item_count + 1, sizeof(places[0]));

	*count = 0;
	for (size_t i = 0; i < item_count; i++) {
		const void *sides = (const char *)items + i * size + offset;
		const double calls = calls_of(sides, side);

		if (calls > 0)
			places[(*count)++] = (struct place){i, calls};
	}
	qsort(places, *count, sizeof(places[0]), most_calls_first);
	return places;
}

static struct place *order_functions(const struct fg_argument_sums *sums, unsigned side,
				     size_t *count)
{
	return order(sums->functions, sums->function_count, sizeof(sums->functions[0]),
		     offsetof(struct fg_argument_sum, sides), side, count);
}

static struct place *order_paths(const struct fg_argument_sums *sums, unsigned side, size_t *count)
{
	return order(sums->paths, sums->path_count, sizeof(sums->paths[0]),
		     offsetof(struct fg_argument_path_sum, sides), side, count);
}

const struct fg_argument_sum **fg_argument_sums_by_calls(const struct fg_argument_sums *sums,
							 unsigned side, size_t *count)
{
	struct place *places = order_functions(sums, side, count);
	const struct fg_argument_sum **list =
		fg_xcalloc(*count + 1, sizeof(const struct fg_argument_sum *));

	for (size_t i = 0; i < *count; i++)
		list[i] = &sums->functions[places[i].at];
	free(places);
	return list;
}

const struct fg_argument_path_sum **fg_argument_paths_by_calls(const struct fg_argument_sums *sums,
							       unsigned side, size_t *count)
{
	struct place *places = order_paths(sums, side, count);
	const struct fg_argument_path_sum **list =
		fg_xcalloc(*count + 1, sizeof(const struct fg_argument_path_sum *));

	for (size_t i = 0; i < *count; i++)
		list[i] = &sums->paths[places[i].at];
	free(places);
	return list;
}

/* ---- tables ---- */

/* Limits the JSON to 10 MiB, including the figures of 4,096 paths. */
const struct fg_argument_room fg_argument_room_of_run = {
	.functions = 1024,
	.paths = 4096,
	.bytes = 2 << 20,
};

enum {
	BYTES_OF_FRAME = 6, /* separators and index of one frame, in JSON */
};

static bool take_bytes(struct fg_argument_room *room, size_t bytes)
{
	if (bytes > room->bytes)
		return false;
	room->bytes -= bytes;
	return true;
}

bool fg_argument_room_for_name(struct fg_argument_room *room, const char *name)
{
	return take_bytes(room, strlen(name) + BYTES_OF_FRAME);
}

bool fg_argument_room_for_path(struct fg_argument_room *room, size_t frames)
{
	if (room->paths == 0 || !take_bytes(room, frames * BYTES_OF_FRAME))
		return false;
	room->paths--;
	return true;
}

const struct fg_argument_figures *
fg_argument_newest(const struct fg_argument_figures *const sides[2])
{
	return sides[1] ? sides[1] : sides[0];
}

struct maker {
	const struct fg_argument_sums *sums;
	struct fg_argument_room room;
	struct fg_argument_table *table;
	size_t name_capacity;
	struct fg_map names; /* address in the sums → name in the table */
	struct fg_arena *arena;
};

static bool take_name(struct maker *m, const char *name, uint32_t *place)
{
	const uint64_t *at = fg_map_get(&m->names, &name, sizeof(name));
	struct fg_argument_table *table = m->table;

	if (at) {
		*place = (uint32_t)*at;
		return true;
	}
	if (!fg_argument_room_for_name(&m->room, name))
		return false;
	*place = (uint32_t)table->name_count;
	(void)fg_map_add(&m->names, &name, sizeof(name), table->name_count, NULL);
	table->names = fg_arena_grow(m->arena, table->names, &m->name_capacity, table->name_count,
				     sizeof(table->names[0]));
	table->names[table->name_count++] = fg_arena_strdup(m->arena, name);
	return true;
}

static void copy_sides(struct maker *m, struct fg_argument_figures *const from[2],
		       const struct fg_argument_figures *to[2])
{
	for (unsigned side = 0; side < 2; side++)
		to[side] = from[side] ? fg_arena_memdup(m->arena, from[side], sizeof(*from[side]))
				      : NULL;
}

static bool take_path(struct maker *m, const struct fg_argument_path_sum *sum,
		      struct fg_argument_path *path)
{
	if (!fg_argument_room_for_path(&m->room, sum->frame_count))
		return false;
	*path = (struct fg_argument_path){
		.frames = fg_arena_array(m->arena, sum->frame_count, sizeof(path->frames[0])),
		.frame_count = sum->frame_count,
		.frames_left_out = sum->frames_left_out,
	};
	for (size_t i = 0; i < sum->frame_count; i++) {
		if (!take_name(m, sum->frames[i], &path->frames[i]))
			return false;
	}
	copy_sides(m, sum->sides, path->sides);
	return true;
}

static void take_paths(struct maker *m, struct fg_argument_function *function, uint32_t index,
		       const struct fg_argument_path_sum *const *paths, size_t path_count,
		       size_t most)
{
	const size_t known = m->sums->functions[index].path_count;

	function->paths =
		fg_arena_array(m->arena, fg_min_size(most, known), sizeof(function->paths[0]));
	for (size_t i = 0; i < path_count && function->path_count < most; i++) {
		if (paths[i]->function != index)
			continue;
		if (!take_path(m, paths[i], &function->paths[function->path_count]))
			break;
		function->path_count++;
	}
	function->paths_left_out =
		m->sums->functions[index].paths_left_out + known - function->path_count;
}

static void take_functions(struct maker *m, const struct place *order)
{
	struct fg_argument_table *table = m->table;
	const size_t most =
		fg_min_size(m->room.paths / table->function_count, FG_ARGUMENT_PATHS_MAX);
	size_t path_count = 0;
	const struct fg_argument_path_sum **paths =
		fg_argument_paths_by_calls(m->sums, EITHER_SIDE, &path_count);

	for (size_t i = 0; i < table->function_count; i++) {
		const struct fg_argument_sum *sum = &m->sums->functions[order[i].at];
		struct fg_argument_function *function = &table->functions[i];

		function->name = fg_arena_strdup(m->arena, sum->name);
		function->signature = fg_arena_strdup(m->arena, sum->signature);
		copy_sides(m, sum->sides, function->sides);
		memcpy(function->traces, sum->traces, sizeof(sum->traces));
		take_paths(m, function, (uint32_t)order[i].at, paths, path_count, most);
	}
	free(paths);
}

const struct fg_argument_table *fg_argument_table_make(const struct fg_argument_sums *sums,
						       struct fg_argument_room room,
						       struct fg_arena *arena)
{
	struct maker m = {.sums = sums, .room = room, .arena = arena};
	size_t count = 0;
	struct place *order = order_functions(sums, EITHER_SIDE, &count);
	const size_t shown =
		fg_min_size(count, fg_min_size(room.functions, FG_ARGUMENT_FUNCTIONS_MAX));

	if (count > 0) {
		m.table = fg_arena_alloc(arena, sizeof(*m.table));
		m.table->functions = fg_arena_array(arena, shown, sizeof(m.table->functions[0]));
		m.table->function_count = shown;
		m.table->functions_left_out = sums->functions_left_out + count - shown;
	}
	if (shown > 0)
		take_functions(&m, order);
	fg_map_release(&m.names);
	free(order);
	return m.table;
}
