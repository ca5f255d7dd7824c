// SPDX-License-Identifier: Apache-2.0
#include "runner/layouts.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "base/process.h"
#include "base/text.h"
#include "code/code.h"
#include "runner/binary.h"
#include "runner/code_facts.h"
#include "runner/file_lock.h"
#include "runner/link_price.h"
#include "runner/link_record.h"
#include "runner/output_tail.h"
#include "runner/pad_object.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINE_STEP_BYTES = 16,
	PAGE_BYTES = 4096,
	LINK_TIMEOUT_S = 300,
	TAIL_BYTES = 200,
	HEX_SIZE = 2 * FG_CODE_DIGEST_SIZE + 1,
};

/* The program or a library of the project. */
struct part {
	const char *name;
	const char *original;
	const char *build_id; /* may be NULL */
	const char *code;     /* digest, as a fact */
};

struct maker {
	const struct fg_layouts_options *options;
	struct fg_links noted;
	char *folder; /* of all layouts, while they are made */
	char *pad;    /* object file */
	char *resolution;
	size_t pad_bytes;
	unsigned from;    /* layouts that an earlier call has made */
	unsigned count;   /* of layouts, with those */
	unsigned links;   /* that this call has made, */
	int64_t spent_ns; /* and what they took */
	int64_t began_ns; /* the link that is under way or was the last */
	int64_t link_ns;  /* one takes, as far as is known; 0: nobody knows */
	uint64_t bytes;   /* of one layout */
};

static bool is_noted(const struct maker *m)
{
	return m->options->relink->argc == 0;
}

/* ---- what it takes ---- */

/* A command of the user's may make more than the program, and is not cut off halfway. */
static int64_t time_limit_ns(const struct maker *m)
{
	const int64_t most_ns = LINK_TIMEOUT_S * FG_NS_PER_S;
	const int64_t within_ns = m->options->within_ns;

	return within_ns > 0 && within_ns < most_ns && is_noted(m) ? within_ns : most_ns;
}

/* The first layout is a copy, the links of the others are alike. */
static int refuse_price(const struct maker *m, int64_t link_ns, struct fg_error *err)
{
	const int64_t price_ns = link_ns * (FG_LINE_PLACES - 1);
	char took[FG_NUMBER_TEXT_SIZE];
	char within[FG_NUMBER_TEXT_SIZE];

	if (m->options->within_ns <= 0 || price_ns <= m->options->within_ns)
		return FG_OK;
	return fg_error_set(err, FG_ELIMIT, "linking it in %d places takes %s, more than %s",
			    FG_LINE_PLACES, fg_format_duration((double)price_ns, took),
			    fg_format_duration((double)m->options->within_ns, within));
}

static uint64_t bytes_of(const char *folder)
{
	uint64_t bytes = 0;
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(folder, &names, &count, NULL) != FG_OK)
		return 0;
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);
		struct stat status;

		if (stat(path, &status) == 0)
			bytes += (uint64_t)status.st_size;
		free(path);
	}
	fg_fs_list_free(names, count);
	return bytes;
}

/* The layouts so far have shown how much time and disk as many more would take. */
static bool can_double(const struct maker *m)
{
	const int64_t more_ns = m->link_ns * (int64_t)m->count;

	return m->count * 2 <= m->options->most &&
	       m->spent_ns + more_ns <= m->options->more_within_ns &&
	       m->bytes * m->count * 2 <= m->options->bytes_max;
}

/* ---- one file ---- */

static int run(const struct maker *m, char **argv, char **environment, const char *folder,
	       struct fg_error *err)
{
	struct fg_process_result result = {0};
	struct fg_strbuf how = {0};
	char *words = NULL;
	int status =
		fg_process_run(&(struct fg_process_options){.argv = argv,
							    .environment = environment,
							    .working_directory = folder,
							    .stdout_to = FG_STREAM_CAPTURE,
							    .stderr_to = FG_STREAM_CAPTURE,
							    .timeout_ns = time_limit_ns(m),
							    .interrupted = m->options->interrupted},
			       &result, err);

	if (status != FG_OK)
		return status;
	if (!result.exited || result.exit_code != 0) {
		words = fg_output_tail(&result, 1, TAIL_BYTES);
		fg_process_describe(&result, &how);
		status = fg_error_set(err, FG_ECHILD, "'%s' %s%s%s", argv[0], fg_strbuf_text(&how),
				      words ? ": " : "", words ? words : "");
	}
	free(words);
	fg_strbuf_release(&how);
	fg_process_result_release(&result);
	return status;
}

/* The same machine code and data as in the build, or it would be another program. */
static int check_code(const struct maker *m, const struct part *part, const char *path,
		      struct fg_error *err)
{
	char hex[HEX_SIZE];
	struct fg_code code;
	int status = fg_code_read(path, m->options->target->checkout, &code, err);

	if (status != FG_OK)
		return status;
	fg_hex(code.digest, sizeof(code.digest), hex);
	fg_code_release(&code);
	if (strcmp(hex, part->code) != 0)
		return fg_error_set(err, FG_EINVAL, "'%s' linked again is not the same code",
				    part->name);
	return FG_OK;
}

/* A file in which the linker tells the compiler's plugin what it needs; it is gone by now. */
static const char resolution[] = "-plugin-opt=-fresolution=";

static bool is_dropped(const char *word)
{
	static const char *const beginnings[] = {"-Map", "--Map", "--dependency-file"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(beginnings); i++) {
		if (fg_text_starts_with(word, beginnings[i]))
			return true;
	}
	return false;
}

/* The noted command with another output and the pad in front of all objects; borrowed words. */
static char **link_words(const struct maker *m, const struct fg_link *link, const char *output)
{
	const char *const front[] = {link->linker, "-u", FG_PAD_SYMBOL, m->pad};
	char **argv = fg_xcalloc(link->word_count + FG_ARRAY_SIZE(front) + 1, sizeof(argv[0]));
	size_t count = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(front); i++)
		argv[count++] = (char *)(uintptr_t)front[i];
	for (size_t i = 0; i < link->word_count; i++) {
		const bool is_output = i > 0 && strcmp(link->words[i - 1], "-o") == 0;

		if (is_output)
			argv[count++] = (char *)(uintptr_t)output;
		else if (fg_text_starts_with(link->words[i], resolution))
			argv[count++] = (char *)(uintptr_t)m->resolution;
		else if (!is_dropped(link->words[i]))
			argv[count++] = link->words[i];
	}
	return argv;
}

static int link_again(const struct maker *m, const struct fg_link *link, const char *output,
		      struct fg_error *err)
{
	char **argv = link_words(m, link, output);
	char *path = fg_xasprintf("PATH=%s", getenv("PATH"));
	char *compiler = fg_xasprintf("COLLECT_GCC=%s", link->compiler);
	char *options = fg_xasprintf("COLLECT_GCC_OPTIONS=%s", link->compiler_options);
	char *environment[] = {path, compiler, options, NULL};
	const int status = run(m, argv, environment, link->folder, err);

	free(options);
	free(compiler);
	free(path);
	free(argv);
	return status;
}

static bool has_build_id(const char *path, const char *build_id)
{
	struct fg_binary elf = {0};
	bool has;

	if (!build_id || fg_binary_read(path, &elf, NULL) != FG_OK)
		return false;
	has = strcmp(elf.build_id, build_id) == 0;
	fg_binary_release(&elf);
	return has;
}

/* The command that made this file, which may have been moved or stripped since. */
static const struct fg_link *find_link(const struct maker *m, const struct part *part)
{
	const struct fg_link *namesake = NULL;

	for (size_t i = 0; i < m->noted.count; i++) {
		const struct fg_link *link = &m->noted.items[i];
		char *output = fg_link_output_path(link);
		const bool is_it = has_build_id(output, part->build_id);

		free(output);
		if (is_it)
			return link;
		if (!namesake && (strcmp(fg_fs_base_name(link->output), part->name) == 0 ||
				  (link->soname && strcmp(link->soname, part->name) == 0)))
			namesake = link;
	}
	return namesake;
}

static int make_by_note(const struct maker *m, const struct part *part, const char *output,
			struct fg_error *err)
{
	const struct fg_link *link = find_link(m, part);
	char *original = NULL;
	int status;

	if (!link)
		return fg_error_set(err, FG_ENOENT, "'%s' was not linked during the build",
				    part->name);
	if (m->pad_bytes)
		return link_again(m, link, output, err);
	original = part->original ? fg_xstrdup(part->original) : fg_link_output_path(link);
	status = fg_fs_copy(original, output, 0755, err);
	free(original);
	return status;
}

/* The user's command links in place; its product is taken, and the original put back at the end. */
static int make_by_command(const struct maker *m, const struct part *part, const char *output,
			   struct fg_error *err)
{
	const struct fg_target *target = m->options->target;
	char *bytes = fg_xasprintf("FASTGATE_PAD_BYTES=%zu", m->pad_bytes);
	char *object = fg_xasprintf("FASTGATE_PAD_OBJECT=%s", m->pad);
	char *flags = fg_xasprintf("FASTGATE_LINK_FLAGS=-Wl,-u," FG_PAD_SYMBOL " %s", m->pad);
	char **environment = fg_xcalloc(target->environment_count + 4, sizeof(environment[0]));
	size_t count = target->environment_count;
	int status = FG_OK;

	memcpy(environment, target->environment, count * sizeof(environment[0]));
	environment[count++] = bytes;
	environment[count++] = object;
	environment[count++] = flags;
	if (m->pad_bytes)
		status = run(m, m->options->relink->argv, environment, target->root, err);
	if (status == FG_OK)
		status = fg_fs_copy(part->original, output, 0755, err);
	free(environment);
	free(flags);
	free(object);
	free(bytes);
	return status;
}

static int make_part(const struct maker *m, const struct part *part, const char *folder,
		     struct fg_error *err)
{
	char *output = fg_fs_join(folder, part->name);
	int status = is_noted(m) ? make_by_note(m, part, output, err)
				 : make_by_command(m, part, output, err);

	if (status == FG_OK)
		status = check_code(m, part, output, err);
	free(output);
	return status;
}

/* ---- all files of a layout ---- */

static int make_libraries(const struct maker *m, const char *folder, struct fg_error *err)
{
	static const char prefix[] = FG_FACT_CODE ".";
	const struct fg_environment *build = m->options->build;
	int status = FG_OK;

	for (size_t i = 0; i < build->count && status == FG_OK; i++) {
		struct part part = {.code = build->facts[i].value};
		char *key = NULL;

		if (!fg_text_starts_with(build->facts[i].key, prefix))
			continue;
		part.name = build->facts[i].key + strlen(prefix);
		key = fg_xasprintf("build.library.%s", part.name);
		part.build_id = fg_environment_get(build, key);
		status = make_part(m, &part, folder, err);
		free(key);
	}
	return status;
}

/* A link that was as good as done when the user asked to stop ends well. */
static bool is_interrupted(const struct maker *m)
{
	return m->options->interrupted && *m->options->interrupted;
}

/*
 * Each four of them are all places in a cache line, a quarter of a page apart.  Sixteen are all
 * sixteenths of a page, and those that share a place in the line are spread over it.
 */
static size_t shift_of(unsigned k)
{
	static const unsigned char within_quarter[FG_LAYOUTS_MAX / FG_LINE_PLACES] = {0, 2, 1, 3};
	const unsigned line = k % FG_LINE_PLACES;
	const unsigned round = k / FG_LINE_PLACES;
	const unsigned page =
		(line + round) % FG_LINE_PLACES * FG_LINE_PLACES + within_quarter[round];

	return (size_t)line * LINE_STEP_BYTES + (size_t)page * (PAGE_BYTES / FG_LAYOUTS_MAX);
}

static int make_layout(struct maker *m, unsigned k, struct fg_error *err)
{
	const struct fg_target *target = m->options->target;
	const struct part program = {
		.name = fg_fs_base_name(target->program),
		.original = target->program,
		.build_id = fg_environment_get(m->options->build, "build.id"),
		.code = fg_environment_get(m->options->build, FG_FACT_CODE),
	};
	char *folder = fg_xasprintf("%s/%u", m->folder, k);
	int status = fg_fs_make_folders(folder, 0755, err);

	m->pad_bytes = shift_of(k);
	m->began_ns = fg_clock_monotonic_ns();
	if (status != FG_OK)
		goto out;
	status = fg_pad_object_write(m->pad, m->pad_bytes, err);
	if (status != FG_OK)
		goto out;
	status = make_part(m, &program, folder, err);
	if (status == FG_OK && is_noted(m))
		status = make_libraries(m, folder, err);
	if (status != FG_OK || k == 0)
		goto out;
	m->spent_ns += fg_clock_monotonic_ns() - m->began_ns;
	m->link_ns = m->spent_ns / ++m->links;
	m->bytes = bytes_of(folder);
	if (k == 1)
		status = refuse_price(m, m->link_ns, err);
out:
	free(folder);
	return status;
}

/* With a backup of the program, which a user's command overwrites. */
static int make_all(struct maker *m, struct fg_error *err)
{
	const char *program = m->options->target->program;
	char *original = NULL;
	int status = FG_OK;

	for (unsigned k = m->from; status == FG_OK; k++) {
		if (k == m->count && !can_double(m))
			break;
		if (k == m->count)
			m->count *= 2;
		status = is_interrupted(m) ? fg_error_set(err, FG_EINTERRUPTED, "interrupted")
					   : make_layout(m, k, err);
	}
	if (is_noted(m))
		return status;
	original = fg_xasprintf("%s/0/%s", m->folder, fg_fs_base_name(program));
	if (fg_fs_exists(original)) {
		char *beside = fg_xasprintf("%s.fastgate", program);
		struct fg_error why = {0};

		if (fg_fs_copy(original, beside, 0755, &why) != FG_OK ||
		    rename(beside, program) != 0)
			status = fg_error_set(err, FG_EIO, "'%s' cannot be put back", program);
		free(beside);
	}
	free(original);
	return status;
}

/* ---- where they are ---- */

/* The name says which build they belong to: a snapshot's tree changes. */
static char *final_folder(const struct fg_layouts_options *options)
{
	const struct fg_environment *build = options->build;
	uint8_t digest[FG_SHA256_SIZE];
	char hex[HEX_SIZE];
	struct fg_sha256 sha;
	char *state = fg_fs_parent(options->target->checkout);
	char *folder = NULL;

	fg_sha256_init(&sha);
	for (size_t i = 0; i < build->count; i++) {
		if (fg_text_starts_with(build->facts[i].key, FG_FACT_LAYOUT))
			fg_sha256_add(&sha, build->facts[i].value,
				      strlen(build->facts[i].value) + 1);
	}
	for (size_t i = 0; i < options->relink->argc; i++)
		fg_sha256_add(&sha, options->relink->argv[i], strlen(options->relink->argv[i]) + 1);
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, FG_CODE_DIGEST_SIZE, hex);
	folder = fg_xasprintf("%s/layouts/%s", state, hex);
	free(state);
	return folder;
}

/* By the program's name, as the next build of it is the one that asks. */
static char *price_path(const struct fg_layouts_options *options)
{
	const struct fg_target *target = options->target;
	const char *program = target->program;
	char *state = fg_fs_parent(target->checkout);
	char *builds = fg_fs_parent(state);
	uint8_t digest[FG_SHA256_SIZE];
	char hex[HEX_SIZE];
	struct fg_sha256 sha;
	char *path = NULL;

	if (fg_text_starts_with(program, target->checkout))
		program += strlen(target->checkout);
	fg_sha256_init(&sha);
	fg_sha256_add(&sha, program, strlen(program) + 1);
	for (size_t i = 0; i < options->relink->argc; i++)
		fg_sha256_add(&sha, options->relink->argv[i], strlen(options->relink->argv[i]) + 1);
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, FG_CODE_DIGEST_SIZE, hex);
	path = fg_xasprintf("%s/link-times/%s", builds, hex);
	free(builds);
	free(state);
	return path;
}

static bool has_libraries(const struct fg_environment *build)
{
	for (size_t i = 0; i < build->count; i++) {
		if (fg_text_starts_with(build->facts[i].key, FG_FACT_CODE "."))
			return true;
	}
	return false;
}

static char *program_in(const struct fg_layouts_options *options, const char *folder, unsigned k)
{
	return fg_xasprintf("%s/%u/%s", folder, k, fg_fs_base_name(options->target->program));
}

/* All that were made, up to the most that are wanted; of a doubling that was cut short, none. */
static unsigned count_made(const struct fg_layouts_options *options, const char *folder)
{
	unsigned whole = FG_LINE_PLACES;
	unsigned count = 0;

	for (bool is_there = true; is_there && count < options->most; count += is_there) {
		char *program = program_in(options, folder, count);

		is_there = fg_fs_exists(program);
		free(program);
	}
	if (count < FG_LINE_PLACES)
		return 0;
	while (whole * 2 <= count)
		whole *= 2;
	return whole;
}

static int give(const struct fg_layouts_options *options, const char *folder,
		struct fg_target_layouts *layouts, struct fg_error *err)
{
	const bool libraries = !options->relink->argc && has_libraries(options->build);

	layouts->count = count_made(options, folder);
	for (unsigned k = 0; k < layouts->count; k++) {
		layouts->items[k].program = program_in(options, folder, k);
		layouts->items[k].library_folder =
			libraries ? fg_xasprintf("%s/%u", folder, k) : NULL;
	}
	if (layouts->count == 0)
		return fg_error_set(err, FG_ENOENT, "'%s' has lost its programs", folder);
	return FG_OK;
}

static int can_be_linked(const struct fg_layouts_options *options, struct fg_error *err)
{
	const struct fg_target *target = options->target;

	if (!target->checkout)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "only what fastgate has built can be linked again");
	if (!target->program || !fg_environment_get(options->build, FG_FACT_CODE))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the machine code of '%s' cannot be compared (a script, "
				    "stripped, or not x86-64)",
				    target->command->text);
	return FG_OK;
}

static int read_links(const struct fg_layouts_options *options, struct fg_links *links,
		      struct fg_error *err)
{
	char *state = fg_fs_parent(options->target->checkout);
	const int status = fg_links_read(state, links, err);

	free(state);
	return status;
}

/* What failed only after all that time is dear, too. */
static void keep_price(const struct maker *m, const char *path, int status)
{
	const int64_t took_ns = m->links ? m->link_ns : fg_clock_monotonic_ns() - m->began_ns;

	if (status == FG_OK || status == FG_ELIMIT ||
	    (status != FG_EINTERRUPTED && refuse_price(m, took_ns, NULL) != FG_OK))
		fg_link_price_write(path, took_ns);
}

/* In a folder of its own; m->folder is NULL where it did not come to that. */
static int make_apart(struct maker *m, const char *parent, const char *price, struct fg_error *err)
{
	int status = is_noted(m) ? read_links(m->options, &m->noted, err) : FG_OK;

	if (status != FG_OK)
		return status;
	status = fg_fs_temporary_folder(parent, "new-", &m->folder, err);
	if (status != FG_OK)
		return status;
	m->pad = fg_fs_join(m->folder, "pad.o");
	m->resolution = fg_xasprintf("%s%s/resolution", resolution, m->folder);
	status = make_all(m, err);
	keep_price(m, price, status);
	return status;
}

/* What was made becomes the final folder when it is whole. */
static int make_folder(struct maker *m, const char *parent, const char *folder,
		       struct fg_error *err)
{
	char *price = price_path(m->options);
	int status = refuse_price(m, fg_link_price_read(price), err);

	if (status != FG_OK)
		goto out;
	status = make_apart(m, parent, price, err);
	if (status != FG_OK)
		goto out;
	/* Another run may have been faster. */
	if (rename(m->folder, folder) != 0 && !fg_fs_is_folder(folder))
		status = fg_error_errno(err, FG_EIO, "'%s'", folder);
out:
	free(price);
	return status;
}

/* In order, unless another run was faster; the first that fails ends it. */
static void move_in(const struct maker *m, const char *folder)
{
	bool good = true;

	for (unsigned k = m->from; good && k < m->count; k++) {
		char *made = fg_xasprintf("%s/%u", m->folder, k);
		char *wanted = fg_xasprintf("%s/%u", folder, k);

		good = rename(made, wanted) == 0 || fg_fs_is_folder(wanted);
		free(wanted);
		free(made);
	}
}

/*
 * When the layouts of an earlier call were made, links may have been dearer: the machine was busy.
 * The others join them.  What fails leaves what is there.
 */
static int extend(struct maker *m, const char *folder, struct fg_error *err)
{
	char *parent = fg_fs_parent(folder);
	char *price = price_path(m->options);
	char *first = fg_fs_join(folder, "0");
	struct fg_error reason = {0};
	int status = FG_OK;

	m->link_ns = fg_link_price_read(price);
	m->bytes = bytes_of(first);
	if (!can_double(m))
		goto out;
	status = make_apart(m, parent, price, &reason);
	if (status == FG_OK)
		move_in(m, folder);
	else
		fg_log(FG_LOG_RUNNER, 1, "no more places: %s", reason.message);
out:
	free(first);
	free(price);
	free(parent);
	return status == FG_EINTERRUPTED ? fg_error_set(err, FG_EINTERRUPTED, "interrupted")
					 : FG_OK;
}

/* A command of the user's links in place: two of them at once would link one another's program. */
static int make_alone(struct maker *m, const char *folder, struct fg_error *err)
{
	const struct fg_lock_wait wait = {.interrupted = m->options->interrupted};
	char *parent = fg_fs_parent(folder);
	char *lock = fg_fs_join(parent, "lock");
	int lock_fd = -1;
	int status = fg_fs_make_folders(parent, 0755, err);

	if (status != FG_OK)
		goto out;
	status = is_noted(m) ? FG_OK : fg_file_lock(lock, LOCK_EX, &wait, &lock_fd, err);
	if (status != FG_OK)
		goto out;
	status = fg_fs_is_folder(folder) ? FG_OK : make_folder(m, parent, folder, err);
out:
	if (lock_fd >= 0)
		(void)close(lock_fd);
	free(lock);
	free(parent);
	return status;
}

bool fg_layouts_are_made(const struct fg_layouts_options *options)
{
	char *folder = NULL;
	bool made;

	if (can_be_linked(options, NULL) != FG_OK)
		return false;
	folder = final_folder(options);
	made = count_made(options, folder) == options->most;
	free(folder);
	return made;
}

int fg_layouts_make(const struct fg_layouts_options *options, struct fg_target_layouts *layouts,
		    struct fg_error *err)
{
	struct maker m = {.options = options, .count = FG_LINE_PLACES};
	char *folder = NULL;
	int status = can_be_linked(options, err);

	if (status != FG_OK)
		return status;
	folder = final_folder(options);
	m.from = count_made(options, folder);
	if (m.from == 0) {
		status = make_alone(&m, folder, err);
	} else if (m.from < options->most && is_noted(&m)) {
		m.count = m.from;
		status = extend(&m, folder, err);
	}
	if (status == FG_OK)
		status = give(options, folder, layouts, err);
	if (m.folder && fg_fs_is_folder(m.folder))
		(void)!fg_fs_remove_tree(m.folder, NULL);
	fg_links_release(&m.noted);
	free(m.resolution);
	free(m.pad);
	free(m.folder);
	free(folder);
	return status;
}
