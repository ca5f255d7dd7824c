// SPDX-License-Identifier: Apache-2.0
#include "runner/build/link_again.h"

#include "base/text.h"
#include "runner/build/pad_object.h"
#include "runner/build/planted.h"
#include "runner/execute/output_tail.h"

enum {
	TAIL_BYTES = 200
};

/*
 * Option with the file in which the linker passes symbol resolutions to the compiler's plugin; the
 * recorded file no longer exists.
 */
static const char resolution[] = "-plugin-opt=-fresolution=";

static bool is_dropped(const char *word)
{
	static const char *const beginnings[] = {"-Map", "--Map", "--dependency-file"};

	return FG_TEXT_STARTS_WITH_ANY(word, beginnings);
}

/* The words in which the repeated command differs from the recorded one. */
struct others {
	const char *output;
	char *pad;
	char *plant; /* NULL: nothing is planted */
	char *resolution;
};

/* Makes the repeated command. The caller frees the array; its strings are borrowed. */
static char **make_words(const struct fg_link *link, const struct others *others)
{
	const char *const front[] = {link->linker, "-u", FG_PAD_SYMBOL,
				     others->pad,  "-u", FG_PLANT_SYMBOL,
				     others->plant};
	const size_t fronts = FG_ARRAY_SIZE(front) - (others->plant ? 0 : 3);
	char **argv = fg_xcalloc(link->word_count + fronts + 1, sizeof(argv[0]));
	size_t count = 0;

	for (size_t i = 0; i < fronts; i++)
		argv[count++] = (char *)(uintptr_t)front[i];
	for (size_t i = 0; i < link->word_count; i++) {
		const bool is_output = i > 0 && strcmp(link->words[i - 1], "-o") == 0;

		if (is_output)
			argv[count++] = (char *)(uintptr_t)others->output;
		else if (fg_text_starts_with(link->words[i], resolution))
			argv[count++] = others->resolution;
		else if (!is_dropped(link->words[i]))
			argv[count++] = link->words[i];
	}
	return argv;
}

static int start(struct fg_link_again *again, const struct fg_link *link, char **argv,
		 const char *output, struct fg_error *err)
{
	struct fg_process *process = &again->processes[again->count];
	char *path = fg_xasprintf("PATH=%s", getenv("PATH"));
	char *compiler = fg_xasprintf("COLLECT_GCC=%s", link->compiler);
	char *options = fg_xasprintf("COLLECT_GCC_OPTIONS=%s", link->compiler_options);
	char *environment[] = {path, compiler, options, NULL};
	const int status =
		fg_process_start(&(struct fg_process_options){.argv = argv,
							      .environment = environment,
							      .working_directory = link->folder,
							      .stdout_to = FG_STREAM_CAPTURE,
							      .stderr_to = FG_STREAM_CAPTURE,
							      .timeout_ns = again->timeout_ns,
							      .interrupted = again->interrupted},
				 process, err);

	if (status == FG_OK) {
		/* The child process has its own copy of these arrays. */
		process->options.argv = NULL;
		process->options.environment = NULL;
		again->outputs[again->count] = fg_xstrdup(output);
		again->links[again->count++] = link;
	}
	free(options);
	free(compiler);
	free(path);
	return status;
}

static int write_objects(const struct fg_link *link, const struct others *others, size_t pad_bytes,
			 struct fg_error *err)
{
	const int status = fg_pad_object_write(others->pad, pad_bytes, err);

	if (status != FG_OK || !others->plant)
		return status;
	return fg_planted_object(&link->planted, others->plant, err);
}

int fg_link_again_start(struct fg_link_again *again, const struct fg_link *link, size_t pad_bytes,
			const char *output, struct fg_error *err)
{
	/* Each link gets its own files, because other links may still be reading their files. */
	struct others others = {
		.output = output,
		.pad = fg_xasprintf("%s/pad-%zu.o", again->folder, again->count),
		.plant = link->plant_text
				 ? fg_xasprintf("%s/plant-%zu.o", again->folder, again->count)
				 : NULL,
		.resolution = fg_xasprintf("%s%s/resolution-%zu", resolution, again->folder,
					   again->count),
	};
	char **argv = make_words(link, &others);
	int status = write_objects(link, &others, pad_bytes, err);

	FG_ASSERT(again->count < FG_LINKS_AT_ONCE_MAX);
	if (status == FG_OK)
		status = start(again, link, argv, output, err);
	free(argv);
	free(others.plant);
	free(others.resolution);
	free(others.pad);
	return status;
}

/* On failure `err` gets the last line of the linker's output. */
static int judge(const struct fg_link *link, const char *output,
		 const struct fg_process_result *result, struct fg_error *err)
{
	struct fg_strbuf how = {0};
	char *words = NULL;
	int status;

	if (result->exited && result->exit_code == 0)
		return link->plant_text ? fg_planted_apply(&link->planted, output, err) : FG_OK;
	words = fg_output_tail(result, 1, TAIL_BYTES);
	fg_process_describe(result, &how);
	status = fg_error_set(err, FG_ECHILD, "'%s' %s%s%s", link->linker, fg_strbuf_text(&how),
			      words ? ": " : "", words ? words : "");
	free(words);
	fg_strbuf_release(&how);
	return status;
}

int fg_link_again_wait(struct fg_link_again *again, struct fg_error *err)
{
	struct fg_process_result results[FG_LINKS_AT_ONCE_MAX] = {0};
	int status;

	if (again->count == 0)
		return FG_OK;
	status = fg_process_wait(again->processes, again->count, results, err);
	for (size_t i = 0; i < again->count; i++) {
		if (status == FG_OK)
			status = judge(again->links[i], again->outputs[i], &results[i], err);
		fg_process_result_release(&results[i]);
	}
	fg_link_again_end(again);
	return status;
}

void fg_link_again_end(struct fg_link_again *again)
{
	for (size_t i = 0; i < again->count; i++)
		fg_process_release(&again->processes[i]);
	for (size_t i = 0; i < FG_LINKS_AT_ONCE_MAX; i++) {
		free(again->outputs[i]);
		again->outputs[i] = NULL;
	}
	again->count = 0;
}
