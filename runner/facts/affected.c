// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/affected.h"

#include "base/fs.h"
#include "binary/code.h"
#include "runner/facts/binary.h"
#include "runner/facts/code_facts.h"
#include "runner/facts/executed.h"

/* The differences between two builds of one file. */
struct comparison {
	char *key;
	struct fg_map functions; /* linkage names of changed and removed functions */
	/* reason why every benchmark that executes this file is affected, or NULL */
	const char *always;
	char *symbol; /* the symbol that `always` is about, or NULL */
};

struct fg_affected {
	struct comparison *items;
	size_t count;
	size_t capacity;
};

struct fg_affected *fg_affected_new(void)
{
	return fg_xcalloc(1, sizeof(struct fg_affected));
}

void fg_affected_free(struct fg_affected *affected)
{
	for (size_t i = 0; affected && i < affected->count; i++) {
		free(affected->items[i].key);
		free(affected->items[i].symbol);
		fg_map_release(&affected->items[i].functions);
	}
	if (affected)
		free(affected->items);
	free(affected);
}

void fg_affected_reason_release(struct fg_affected_reason *reason)
{
	free(reason->text);
	free(reason->symbol);
	*reason = (struct fg_affected_reason){0};
}

static void say(struct fg_affected_reason *reason, const char *symbol, const char *format, ...)
	FG_PRINTF(3, 4);

static void say(struct fg_affected_reason *reason, const char *symbol, const char *format, ...)
{
	struct fg_strbuf text = {0};
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&text, format, ap);
	va_end(ap);
	reason->text = fg_strbuf_detach(&text);
	reason->symbol = symbol ? fg_xstrdup(symbol) : NULL;
}

/* ---- two builds of a file ---- */

static void touch_all(struct comparison *c, const char *why, const char *symbol)
{
	if (c->always)
		return;
	c->always = why;
	c->symbol = symbol ? fg_xstrdup(symbol) : NULL;
}

static void take_pair(struct comparison *c, const struct fg_code *before,
		      const struct fg_code *after, const struct fg_code_pair *pair)
{
	const struct fg_code_item *item = pair->before != FG_CODE_NONE
						  ? &before->items[pair->before]
						  : &after->items[pair->after];

	if (pair->change == FG_CODE_ADDED && item->is_exported)
		touch_all(c, "a symbol was added that other code may look up by name", item->name);
	else if (pair->change == FG_CODE_REMOVED && item->is_exported)
		touch_all(c, "a symbol was removed that other code may look up by name",
			  item->name);
	else if (pair->change != FG_CODE_ADDED && !item->is_function)
		touch_all(c, "data changed", item->name);
	else if (pair->change != FG_CODE_ADDED)
		(void)fg_map_add_text(&c->functions, item->name, 1, NULL);
}

static void compare_code(struct comparison *c, const struct fg_target targets[FG_ARM_COUNT],
			 char *const paths[FG_ARM_COUNT])
{
	struct fg_code_difference difference;
	struct fg_code code[FG_ARM_COUNT];
	size_t read = 0;

	while (read < FG_ARM_COUNT &&
	       fg_code_read(paths[read], targets[read].checkout, &code[read], NULL) == FG_OK)
		read++;
	if (read < FG_ARM_COUNT) {
		touch_all(c, "the program's functions cannot be distinguished", NULL);
	} else {
		fg_code_compare(&code[FG_ARM_BASELINE], &code[FG_ARM_CANDIDATE], &difference);
		for (size_t i = 0; i < difference.pair_count; i++) {
			if (difference.pairs[i].change != FG_CODE_SAME)
				take_pair(c, &code[FG_ARM_BASELINE], &code[FG_ARM_CANDIDATE],
					  &difference.pairs[i]);
		}
		fg_code_difference_release(&difference);
	}
	while (read > 0)
		fg_code_release(&code[--read]);
}

static const struct comparison *comparison_of(struct fg_affected *affected,
					      const struct fg_target targets[FG_ARM_COUNT],
					      const struct fg_executed_file *file)
{
	char *paths[FG_ARM_COUNT] = {fg_fs_join(targets[FG_ARM_BASELINE].root, file->path),
				     fg_fs_join(targets[FG_ARM_CANDIDATE].root, file->path)};
	struct comparison *c = NULL;

	for (size_t i = 0; i < affected->count && !c; i++) {
		if (strcmp(affected->items[i].key, paths[FG_ARM_CANDIDATE]) == 0)
			c = &affected->items[i];
	}
	if (!c) {
		c = &FG_APPEND(affected->items, affected->count, affected->capacity);
		*c = (struct comparison){.key = fg_xstrdup(paths[FG_ARM_CANDIDATE])};
		compare_code(c, targets, paths);
	}
	free(paths[FG_ARM_BASELINE]);
	free(paths[FG_ARM_CANDIDATE]);
	return c;
}

/* ---- code that the benchmark executes ---- */

static bool find_digest(const struct fg_target *target, const struct fg_executed_file *file,
			char digest[FG_CODE_FACT_SIZE])
{
	char *path = fg_fs_join(target->root, file->path);
	const bool found = fg_code_facts_digest(target, path, digest);

	free(path);
	return found;
}

static void check_inside(struct fg_affected *affected, const struct fg_target *targets,
			 const struct fg_executed_file *file, struct fg_affected_reason *reason)
{
	char digests[FG_ARM_COUNT][FG_CODE_FACT_SIZE];
	const struct comparison *c = NULL;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		if (!find_digest(&targets[arm], file, digests[arm])) {
			say(reason, NULL, "the functions of %s cannot be distinguished",
			    file->path);
			return;
		}
	}
	if (strcmp(digests[FG_ARM_BASELINE], file->identity) != 0) {
		say(reason, NULL, "%s is not the build whose functions were recorded", file->path);
		reason->is_stale = true;
		return;
	}
	if (strcmp(digests[FG_ARM_BASELINE], digests[FG_ARM_CANDIDATE]) == 0)
		return;
	c = comparison_of(affected, targets, file);
	if (c->always) {
		say(reason, c->symbol, "%s in %s", c->always, file->path);
		return;
	}
	if (file->is_whole && c->functions.count) {
		say(reason, NULL, "%s changed, and some code that runs in it has no symbol",
		    file->path);
		return;
	}
	for (size_t i = 0; i < c->functions.count; i++) {
		if (fg_executed_has_function(file, c->functions.entries[i].key)) {
			say(reason, c->functions.entries[i].key,
			    "the benchmark executes changed code");
			return;
		}
	}
}

static void check_outside(const struct fg_executed_file *file, struct fg_affected_reason *reason)
{
	struct fg_binary elf = {0};

	if (fg_binary_read(file->path, &elf, NULL) != FG_OK ||
	    strcmp(elf.build_id, file->identity) != 0) {
		say(reason, NULL, "%s changed after the functions were recorded", file->path);
		reason->is_stale = true;
	}
	fg_binary_release(&elf);
}

/* ---- kind and build ---- */

/* The project's own libraries are compared function by function elsewhere. */
static void check_libraries(const struct fg_build_facts builds[FG_ARM_COUNT],
			    struct fg_affected_reason *reason)
{
	struct fg_library_pair pair = {
		.builds = {&builds[FG_ARM_BASELINE], &builds[FG_ARM_CANDIDATE]}};

	while (!reason->text && fg_library_pair_next(&pair)) {
		if (!fg_library_pair_is_same(&pair) &&
		    !(pair.sides[0] && pair.sides[1] && pair.sides[1]->is_own))
			say(reason, NULL, "another library: %s", fg_library_pair_name(&pair));
	}
}

void fg_affected_by_kind(const struct fg_target targets[FG_ARM_COUNT],
			 struct fg_affected_reason *reason)
{
	const struct fg_target *baseline = &targets[FG_ARM_BASELINE];
	const struct fg_target *candidate = &targets[FG_ARM_CANDIDATE];
	const struct fg_benchmark *benchmark = candidate->benchmark;

	*reason = (struct fg_affected_reason){0};
	if (!baseline->command || !baseline->program || !candidate->program)
		say(reason, NULL, "the benchmark is not on both sides");
	else if (benchmark->harness != FG_HARNESS_NONE)
		say(reason, NULL, "a harness decides for itself what it executes");
	else if (baseline->is_wrapper || candidate->is_wrapper)
		say(reason, NULL, "the program that finally runs is unknown: %s",
		    fg_fs_base_name(candidate->program));
	else if (!fg_command_is_same(baseline->command, candidate->command))
		say(reason, NULL, "each side has its own command");
	else if (benchmark->prepare.argc)
		say(reason, NULL, "files that the benchmark's `prepare` makes are not tracked");
}

void fg_affected_by_build(const struct fg_target targets[FG_ARM_COUNT],
			  const struct fg_build_facts builds[FG_ARM_COUNT],
			  struct fg_affected_reason *reason)
{
	fg_affected_by_kind(targets, reason);
	if (!reason->text)
		check_libraries(builds, reason);
}

/* ---- inputs ---- */

static void check_input(const struct fg_target targets[FG_ARM_COUNT],
			const struct fg_executed_input *input, struct fg_affected_reason *reason)
{
	char *before = fg_executed_input_now(&targets[FG_ARM_BASELINE], input);
	char *after = fg_executed_input_now(&targets[FG_ARM_CANDIDATE], input);

	if (strcmp(before, after) != 0) {
		say(reason, NULL, "a file that the benchmark reads changed: %s", input->path);
	} else if (strcmp(before, input->identity) != 0) {
		say(reason, NULL, "%s changed after the functions were recorded", input->path);
		reason->is_stale = true;
	}
	free(before);
	free(after);
}

static void check_inputs(const struct fg_target targets[FG_ARM_COUNT],
			 const struct fg_executed *executed, struct fg_affected_reason *reason)
{
	for (size_t i = 0; i < executed->input_count && !reason->text; i++)
		check_input(targets, &executed->inputs[i], reason);
}

/* ---- all reasons ---- */

void fg_affected_by_code(struct fg_affected *affected, const struct fg_target targets[FG_ARM_COUNT],
			 const struct fg_executed *executed, struct fg_affected_reason *reason)
{
	*reason = (struct fg_affected_reason){0};
	if (executed->doubt)
		say(reason, NULL, "%s", executed->doubt);
	else
		check_inputs(targets, executed, reason);
	for (size_t i = 0; i < executed->file_count && !reason->text; i++) {
		if (executed->files[i].is_inside)
			check_inside(affected, targets, &executed->files[i], reason);
		else
			check_outside(&executed->files[i], reason);
	}
}
