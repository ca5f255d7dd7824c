// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/build_info.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "base/text.h"
#include "runner/execute/output_tail.h"
#include "runner/facts/binary.h"
#include "runner/facts/code_facts.h"
#include "runner/facts/loader_list.h"

#include <inttypes.h>
#include <sys/stat.h>

enum {
	FACT_TIMEOUT_S = 60,
	FACT_MAX_BYTES = 4096,
	KEY_MAX = 256
};

void fg_build_split_producer(const char *producer, char **compiler, char **flags)
{
	const char *dash = strstr(producer, " -");

	*compiler = dash ? fg_xstrndup(producer, (size_t)(dash - producer)) : fg_xstrdup(producer);
	*flags = fg_xstrdup(dash ? dash + 1 : "");
}

static void add_producer(const struct fg_binary *elf, struct fg_build_facts *build)
{
	char *levels = fg_binary_level_names(elf->levels);
	char *compiler = NULL;
	char *flags = NULL;
	char several[KEY_MAX];

	fg_build_split_producer(elf->producer, &compiler, &flags);
	fg_build_facts_put(&build->compiler, compiler);
	if (*flags)
		fg_build_facts_put(&build->flags, flags);
	if (elf->levels)
		fg_build_facts_put(&build->optimisation, levels);
	(void)snprintf(several, sizeof(several), "%zu different compilers or options",
		       elf->producer_count);
	if (elf->producer_count > 1)
		fg_build_facts_put(&build->producers, several);
	free(levels);
	free(compiler);
	free(flags);
}

static void add_elf_facts(const struct fg_binary *elf, struct fg_build_facts *build)
{
	if (*elf->build_id)
		fg_build_facts_put(&build->id, elf->build_id);
	fg_build_facts_put(&build->comment, elf->comment);
	fg_build_facts_put(&build->debug_info, elf->has_debug_info ? "yes" : "no");
	fg_build_facts_put(&build->linking, elf->interpreter ? "dynamic" : "static");
	if (elf->producer)
		add_producer(elf, build);
}

/*
 * Returns true for paths below the project but outside the checkout in STATE/builds/KEY/tree: the
 * user's own files, which both sides share.
 */
static bool is_in_the_work_tree(const struct fg_target *target, const char *path)
{
	static const char below[] = "/.fastgate/builds/";
	const char *state = target->checkout ? strstr(target->checkout, below) : NULL;
	const size_t length = state ? (size_t)(state - target->checkout) : 0;

	return state && strncmp(path, target->checkout, length) == 0 && path[length] == '/' &&
	       !fg_text_starts_with(path, target->checkout);
}

static void add_origin(const struct fg_target *target, const char *path,
		       struct fg_build_library *library, struct fg_build_facts *build)
{
	const bool in_checkout = target->checkout && fg_text_starts_with(path, target->checkout);

	library->is_own = in_checkout || fg_target_is_inside(target, path);
	if (in_checkout) {
		const char *place = path + strlen(target->checkout);

		fg_build_facts_put(&library->place, place + strspn(place, "/"));
	} else if (!library->is_own && is_in_the_work_tree(target, path)) {
		const char *paths = build->shared_libraries;
		char *longer = fg_xasprintf("%s%s%s", paths ? paths : "", paths ? " " : "", path);

		free(build->shared_libraries);
		build->shared_libraries = longer;
	}
}

/* Adds a library, identified by its build-id, or by its size if there is no build-id. */
static void add_library(const struct fg_target *target, const char *name, const char *path,
			struct fg_build_facts *build)
{
	struct fg_build_library *library = fg_build_facts_add_library(build, name);
	struct fg_binary elf = {0};
	char identity[KEY_MAX];

	if (fg_binary_read(path, &elf, NULL) != FG_OK) {
		fg_build_facts_put(&library->identity, "unreadable");
		return;
	}
	(void)snprintf(identity, sizeof(identity), "no build-id, %" PRIu64 " bytes",
		       elf.size_bytes);
	fg_build_facts_put(&library->identity, *elf.build_id ? elf.build_id : identity);
	add_origin(target, path, library, build);
	fg_code_facts_add_library(target, path, library);
	fg_binary_release(&elf);
}

struct listing {
	const struct fg_target *target;
	struct fg_build_facts *build;
};

static void add_listed(void *context, const char *name, const char *path)
{
	const struct listing *listing = context;
	const char *folder = listing->target->working_directory;
	/* LD_LIBRARY_PATH may be relative to the program's working directory. */
	char *whole = *path && *path != '/' && folder ? fg_fs_join(folder, path) : NULL;

	if (name)
		add_library(listing->target, name, whole ? whole : path, listing->build);
	free(whole);
}

static void add_libraries(const struct fg_target *target, const char *interpreter,
			  struct fg_build_facts *build)
{
	struct listing listing = {target, build};

	/* Libraries that are not listed stay unknown. */
	(void)!fg_loader_list(&(struct fg_loader){.path = interpreter,
						  .program = target->program,
						  .environment = target->environment,
						  .working_directory = target->working_directory,
						  .add = add_listed,
						  .context = &listing},
			      NULL);
}

void fg_build_capture(const struct fg_target *target, struct fg_build_facts *build)
{
	struct fg_binary elf = {0};
	struct stat status;

	if (!target->program || target->is_shell)
		return;
	fg_build_facts_put(&build->program, fg_fs_base_name(target->program));
	if (stat(target->program, &status) == 0)
		build->size = fg_xasprintf("%lld", (long long)status.st_size);
	if (fg_binary_read(target->program, &elf, NULL) != FG_OK)
		return;
	add_elf_facts(&elf, build);
	if (elf.interpreter)
		add_libraries(target, elf.interpreter, build);
	fg_code_facts_add_program(target, build);
	fg_code_facts_add_inputs(target, build);
	fg_binary_release(&elf);
}

bool fg_build_loads_the_same(const struct fg_target *a, const struct fg_target *b,
			     const struct fg_build_facts *build_a,
			     const struct fg_build_facts *build_b)
{
	struct fg_library_pair pair = {.builds = {build_a, build_b}};

	if (!fg_command_is_same(a->command, b->command) ||
	    !fg_fact_is_equal(build_a->layout, build_b->layout) ||
	    !fg_fact_is_equal(build_a->inputs, build_b->inputs))
		return false;
	while (fg_library_pair_next(&pair)) {
		if (!pair.sides[0] || !pair.sides[1] ||
		    (!fg_fact_is_equal(pair.sides[0]->layout, pair.sides[1]->layout) &&
		     !(fg_library_pair_is_same(&pair) && fg_library_has_id(pair.sides[0]))))
			return false;
	}
	return true;
}

bool fg_build_is_identical(const struct fg_target *a, const struct fg_target *b,
			   const struct fg_build_facts *build_a,
			   const struct fg_build_facts *build_b)
{
	struct fg_library_pair pair = {.builds = {build_a, build_b}};
	bool is_same = fg_target_same_files(a, b);

	while (is_same && fg_library_pair_next(&pair))
		is_same = fg_library_pair_is_same(&pair) && fg_library_has_id(pair.sides[0]);
	return is_same;
}

static int record_command(const struct fg_recorded_fact *fact, const char *key,
			  const struct fg_record_options *options,
			  struct fg_environment *environment, struct fg_error *err)
{
	struct fg_process_result result = {0};
	struct fg_strbuf text = {0};
	size_t size = 0;
	int status = fg_process_run(
		&(struct fg_process_options){.argv = fact->command.argv,
					     .working_directory = options->folder,
					     .stdout_to = FG_STREAM_CAPTURE,
					     .stderr_to = FG_STREAM_CAPTURE,
					     .timeout_ns = FACT_TIMEOUT_S * FG_NS_PER_S,
					     .interrupted = options->interrupted},
		&result, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "recorded fact '%s'", fact->name);
		return status;
	}
	if (!result.exited || result.exit_code != 0) {
		char *words = fg_output_tail(&result, 1, 200);

		fg_process_describe(&result, &text);
		status = fg_error_set(err, FG_ECHILD, "recorded fact '%s': '%s' %s%s%s", fact->name,
				      fact->command.text, fg_strbuf_text(&text), words ? ": " : "",
				      words ? words : "");
		free(words);
	} else {
		size = result.stdout_size;
		while (size > 0 && strchr(" \t\r\n", result.stdout_text[size - 1]))
			size--;
		fg_text_add_clean(&text, result.stdout_text, size, FACT_MAX_BYTES);
		fg_environment_set(environment, key, fg_strbuf_text(&text), options->identity);
	}
	fg_strbuf_release(&text);
	fg_process_result_release(&result);
	return status;
}

int fg_build_record(const struct fg_record_options *options, struct fg_environment *environment,
		    struct fg_error *err)
{
	for (size_t i = 0; i < options->count; i++) {
		const struct fg_recorded_fact *fact = &options->facts[i];
		char key[KEY_MAX];
		int status = FG_OK;

		(void)snprintf(key, sizeof(key), "user.%s", fact->name);
		if (fact->literal)
			fg_environment_set(environment, key, fact->literal, options->identity);
		else
			status = record_command(fact, key, options, environment, err);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}
