// SPDX-License-Identifier: Apache-2.0
#include "runner/build/layouts.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/text.h"
#include "binary/code.h"
#include "runner/build/link_again.h"
#include "runner/build/link_cost.h"
#include "runner/build/link_record.h"
#include "runner/facts/binary.h"

#include <sys/stat.h>

enum {
	LINE_STEP_BYTES = 16,
	PAGE_BYTES = 4096,
	LINK_TIMEOUT_S = 300,
	HEX_SIZE = 2 * FG_CODE_DIGEST_SIZE + 1,
};

/* The program or a library of the project. */
struct part {
	const char *name;
	char *original;             /* path of the file */
	const char *code;           /* digest, as a fact */
	const struct fg_link *link; /* the recorded link that made the file */
};

struct maker {
	const struct fg_layouts_options *options;
	struct fg_links noted;
	struct part *parts; /* one per program or library */
	size_t part_count;
	char *folder;     /* holds all layouts while they are made */
	unsigned count;   /* layouts wanted */
	size_t next;      /* next part to link, counted over all layouts in order */
	size_t linked;    /* parts linked by this call */
	int64_t began_ns; /* start of the links */
	int64_t spent_ns; /* wall time of the links so far */
	uint64_t bytes;   /* disk space of the links so far */
	int64_t link_ns;  /* estimated time to link one layout; 0: unknown */
	uint64_t layout_bytes;
};

/* ---- cost ---- */

static int64_t time_limit_ns(const struct maker *m)
{
	const int64_t max_ns = LINK_TIMEOUT_S * FG_NS_PER_S;
	const int64_t within_ns = m->options->within_ns;

	return within_ns > 0 && within_ns < max_ns ? within_ns : max_ns;
}

/*
 * Fails if linking FG_LINE_PLACES layouts would take longer than allowed. The first layout is a
 * copy; each other layout takes `link_ns` to link.
 */
static int refuse_expensive(const struct maker *m, int64_t link_ns, struct fg_error *err)
{
	const int64_t cost_ns = link_ns * (FG_LINE_PLACES - 1);
	char took[FG_NUMBER_TEXT_SIZE];
	char within[FG_NUMBER_TEXT_SIZE];

	if (m->options->within_ns <= 0 || cost_ns <= m->options->within_ns)
		return FG_OK;
	return fg_error_set(err, FG_ELIMIT,
			    "linking the program in %d places would take %s; at most %s is allowed",
			    FG_LINE_PLACES, fg_format_duration((double)cost_ns, took),
			    fg_format_duration((double)m->options->within_ns, within));
}

static uint64_t bytes_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Can twice as many layouts be linked within the limits? Estimated from the links so far. */
static bool can_double(const struct maker *m)
{
	const size_t linked = 1 + m->linked / m->part_count;
	const int64_t more_ns = m->link_ns * (int64_t)(2 * (size_t)m->count - linked);

	return m->link_ns > 0 && m->count * 2 <= m->options->most &&
	       m->spent_ns + more_ns <= m->options->more_within_ns &&
	       m->layout_bytes * m->count * 2 <= m->options->bytes_max;
}

/* Counts `parts` more linked parts, `bytes` in total. Fails if the first are too expensive. */
static int count_linked(struct maker *m, size_t parts, uint64_t bytes, struct fg_error *err)
{
	const bool is_first = m->linked == 0;

	m->linked += parts;
	m->bytes += bytes;
	m->spent_ns = fg_clock_monotonic_ns() - m->began_ns;
	m->link_ns = m->spent_ns * (int64_t)m->part_count / (int64_t)m->linked;
	m->layout_bytes = m->bytes * m->part_count / m->linked;
	return is_first ? refuse_expensive(m, m->link_ns, err) : FG_OK;
}

/* ---- the parts ---- */

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

/* Finds the link that made this file, even if it was moved or stripped since. */
static const struct fg_link *find_link(const struct maker *m, const char *name,
				       const char *build_id)
{
	const struct fg_link *namesake = NULL;

	for (size_t i = 0; i < m->noted.count; i++) {
		const struct fg_link *link = &m->noted.items[i];
		char *output = fg_link_output_path(link);
		const bool is_it = has_build_id(output, build_id);

		free(output);
		if (is_it)
			return link;
		if (!namesake && fg_link_makes(link, name))
			namesake = link;
	}
	return namesake;
}

/* `original` NULL: the file is where the linker put it. */
static int add_part(struct maker *m, const char *name, const char *original, const char *build_id,
		    const char *code, struct fg_error *err)
{
	struct part *part = &m->parts[m->part_count++];

	*part = (struct part){.name = name, .code = code, .link = find_link(m, name, build_id)};
	if (!part->link)
		return fg_error_set(err, FG_ENOENT, "'%s' was not linked during the build", name);
	part->original = original ? fg_xstrdup(original) : fg_link_output_path(part->link);
	return FG_OK;
}

static int list_parts(struct maker *m, struct fg_error *err)
{
	const struct fg_build_facts *build = m->options->build;
	const char *program = m->options->target->program;
	int status;

	m->parts = fg_xcalloc(build->library_count + 1, sizeof(m->parts[0]));
	status = add_part(m, fg_fs_base_name(program), program, build->id, build->code, err);
	for (size_t i = 0; i < build->library_count && status == FG_OK; i++) {
		const struct fg_build_library *library = &build->libraries[i];

		if (library->code)
			status = add_part(m, library->name, NULL, library->identity, library->code,
					  err);
	}
	return status;
}

static void release_parts(struct maker *m)
{
	for (size_t i = 0; i < m->part_count; i++)
		free(m->parts[i].original);
	free(m->parts);
}

/* Fails unless the file has the code and data of the original build. */
static int check_code(const struct maker *m, const struct part *part, const char *path,
		      struct fg_error *err)
{
	char hex[HEX_SIZE];
	struct fg_code code;

	FG_TRY(fg_code_read(path, m->options->target->checkout, &code, err));
	fg_hex(code.digest, sizeof(code.digest), hex);
	fg_code_release(&code);
	if (strcmp(hex, part->code) != 0)
		return fg_error_set(err, FG_EINVAL,
				    "linking '%s' again does not give the same code", part->name);
	return FG_OK;
}

/* ---- layouts ---- */

/* Call only between links: a link that is nearly done when interrupted may still succeed. */
static bool is_interrupted(const struct maker *m)
{
	return m->options->interrupted && *m->options->interrupted;
}

/*
 * Each group of four layouts covers all places in a cache line, a quarter of a page apart. Sixteen
 * layouts cover all sixteenths of a page, and layouts with the same place in the line are spread
 * over the page.
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

static int make_layout_folder(const struct maker *m, unsigned k, struct fg_error *err)
{
	char *folder = fg_xasprintf("%s/%u", m->folder, k);
	const int status = fg_fs_make_folders(folder, 0755, err);

	free(folder);
	return status;
}

static char *path_of(const struct maker *m, unsigned k, const struct part *part)
{
	return fg_xasprintf("%s/%u/%s", m->folder, k, part->name);
}

/* Is layout k worth linking? Doubles the number of layouts while the limits allow it. */
static bool has_layout(struct maker *m, unsigned k)
{
	if (k == m->count && can_double(m))
		m->count *= 2;
	return k < m->count;
}

/* ---- links, run in parallel ---- */

/* Files linked concurrently, then compared with the originals. */
struct batch {
	struct fg_link_again again;
	const struct part *parts[FG_LINKS_AT_ONCE_MAX];
	char *paths[FG_LINKS_AT_ONCE_MAX];
	size_t count;
};

static void empty_batch(struct batch *batch)
{
	fg_link_again_end(&batch->again);
	for (size_t i = 0; i < batch->count; i++)
		free(batch->paths[i]);
	batch->count = 0;
}

/* Limits the number of parallel links, because a linker keeps its input and output in memory. */
static size_t max_at_once(const struct maker *m)
{
	const uint64_t part_bytes = m->layout_bytes / m->part_count;
	size_t most = m->options->at_once;

	if (part_bytes && m->options->bytes_max / part_bytes < most)
		most = (size_t)(m->options->bytes_max / part_bytes);
	if (most > FG_LINKS_AT_ONCE_MAX)
		most = FG_LINKS_AT_ONCE_MAX;
	return most ? most : 1;
}

static int start_link(struct maker *m, unsigned k, const struct part *part, struct batch *batch,
		      struct fg_error *err)
{
	char *path = path_of(m, k, part);
	int status = make_layout_folder(m, k, err);

	batch->parts[batch->count] = part;
	batch->paths[batch->count++] = path;
	if (status != FG_OK)
		return status;
	return fg_link_again_start(&batch->again, part->link, shift_of(k), path, err);
}

static int start_batch(struct maker *m, struct batch *batch, struct fg_error *err)
{
	const size_t most = max_at_once(m);
	int status = FG_OK;

	batch->again.folder = m->folder;
	batch->again.timeout_ns = time_limit_ns(m);
	batch->again.interrupted = m->options->interrupted;
	while (batch->count < most && status == FG_OK) {
		const unsigned k = 1 + (unsigned)(m->next / m->part_count);

		if (!has_layout(m, k))
			break;
		status = start_link(m, k, &m->parts[m->next % m->part_count], batch, err);
		m->next++;
	}
	return status;
}

static int wait_for_batch(struct maker *m, struct batch *batch, struct fg_error *err)
{
	const int status = fg_link_again_wait(&batch->again, err);
	uint64_t bytes = 0;

	if (status != FG_OK || batch->count == 0)
		return status;
	for (size_t i = 0; i < batch->count; i++)
		bytes += bytes_of(batch->paths[i]);
	return count_linked(m, batch->count, bytes, err);
}

static int check_batch(const struct maker *m, const struct batch *batch, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < batch->count && status == FG_OK; i++)
		status = check_code(m, batch->parts[i], batch->paths[i], err);
	return status;
}

/* Makes layout 0: copies without a shift. */
static int copy_originals(struct maker *m, struct fg_error *err)
{
	int status = make_layout_folder(m, 0, err);

	for (size_t i = 0; i < m->part_count && status == FG_OK; i++) {
		const struct part *part = &m->parts[i];
		char *path = path_of(m, 0, part);

		status = fg_fs_copy(part->original, path, 0755, err);
		if (status == FG_OK)
			status = check_code(m, part, path, err);
		m->layout_bytes += bytes_of(path);
		free(path);
	}
	return status;
}

/* Starts the next batch, and compares the products of the last batch meanwhile. */
static int make_batch(struct maker *m, struct batch *last, struct batch *next, struct fg_error *err)
{
	if (is_interrupted(m))
		return fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	FG_TRY(start_batch(m, next, err));
	FG_TRY(check_batch(m, last, err));
	return wait_for_batch(m, next, err);
}

static int make_links(struct maker *m, struct fg_error *err)
{
	struct batch batches[2] = {0};
	size_t next = 0;
	int status = copy_originals(m, err);
	bool more = status == FG_OK;

	while (more) {
		struct batch *last = &batches[1 - next];

		status = make_batch(m, last, &batches[next], err);
		more = status == FG_OK && batches[next].count > 0;
		empty_batch(last);
		next = 1 - next;
	}
	empty_batch(&batches[0]);
	empty_batch(&batches[1]);
	return status;
}

/* ---- where layouts are stored ---- */

/* The folder is named after the build's identity, because a snapshot's tree changes. */
static char *final_folder(const struct fg_layouts_options *options)
{
	const struct fg_build_facts *build = options->build;
	char hex[HEX_SIZE];
	struct fg_sha256 sha;
	char *state = fg_fs_parent(options->target->checkout);
	char *folder = NULL;

	fg_sha256_init(&sha);
	if (build->layout)
		fg_sha256_add_text(&sha, build->layout);
	for (size_t i = 0; i < build->library_count; i++) {
		const char *layout = build->libraries[i].layout;

		if (layout)
			fg_sha256_add_text(&sha, layout);
	}
	fg_sha256_finish_hex(&sha, FG_CODE_DIGEST_SIZE, hex);
	folder = fg_xasprintf("%s/layouts/%s", state, hex);
	free(state);
	return folder;
}

/*
 * The file is keyed by the program's path in the checkout, so that the program's next build finds
 * the cost.
 */
static char *cost_path(const struct fg_layouts_options *options)
{
	const struct fg_target *target = options->target;
	const char *program = target->program;
	char *state = fg_fs_parent(target->checkout);
	char *builds = fg_fs_parent(state);
	char hex[HEX_SIZE];
	struct fg_sha256 sha;
	char *path = NULL;

	if (fg_text_starts_with(program, target->checkout))
		program += strlen(target->checkout);
	fg_sha256_init(&sha);
	fg_sha256_add_text(&sha, program);
	fg_sha256_finish_hex(&sha, FG_CODE_DIGEST_SIZE, hex);
	path = fg_xasprintf("%s/link-times/%s", builds, hex);
	free(builds);
	free(state);
	return path;
}

static bool has_libraries(const struct fg_build_facts *build)
{
	for (size_t i = 0; i < build->library_count; i++) {
		if (build->libraries[i].code)
			return true;
	}
	return false;
}

static char *program_in(const struct fg_layouts_options *options, const char *folder, unsigned k)
{
	return fg_xasprintf("%s/%u/%s", folder, k, fg_fs_base_name(options->target->program));
}

/*
 * Counts complete layouts, up to the number wanted; layouts of an incomplete doubling do not count.
 */
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
	const bool libraries = has_libraries(options->build);

	layouts->count = count_made(options, folder);
	for (unsigned k = 0; k < layouts->count; k++) {
		layouts->items[k].program = program_in(options, folder, k);
		layouts->items[k].library_folder =
			libraries ? fg_xasprintf("%s/%u", folder, k) : NULL;
	}
	if (layouts->count == 0)
		return fg_error_set(err, FG_ENOENT, "'%s' no longer has its programs", folder);
	return FG_OK;
}

static int can_be_linked(const struct fg_layouts_options *options, struct fg_error *err)
{
	const struct fg_target *target = options->target;

	if (!target->checkout)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "only builds made by fastgate can be linked again");
	if (!target->program || !options->build->code)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the machine code of '%s' cannot be compared (a script or "
				    "wrapper, stripped, or neither x86-64 nor arm64)",
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

/* Remembers the cost of a link, even of a failed link if it was expensive. */
static void keep_cost(const struct maker *m, const char *path, int status)
{
	const int64_t took_ns = m->linked ? m->link_ns : fg_clock_monotonic_ns() - m->began_ns;

	if (status == FG_OK || status == FG_ELIMIT ||
	    (status != FG_EINTERRUPTED && refuse_expensive(m, took_ns, NULL) != FG_OK))
		fg_link_cost_write(path, took_ns);
}

/* Links into a new folder. On early failure m->folder stays NULL. */
static int make_apart(struct maker *m, const char *parent, const char *cost, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(read_links(m->options, &m->noted, err));
	FG_TRY(list_parts(m, err));
	FG_TRY(fg_fs_temporary_folder(parent, "new-", &m->folder, err));
	m->began_ns = fg_clock_monotonic_ns();
	status = make_links(m, err);
	keep_cost(m, cost, status);
	return status;
}

/* A complete folder is renamed to its final name, so an incomplete folder never has that name. */
static int make_folder(struct maker *m, const char *folder, struct fg_error *err)
{
	char *cost = cost_path(m->options);
	char *parent = fg_fs_parent(folder);
	int status = FG_OK;

	FG_TRY_OUT(refuse_expensive(m, fg_link_cost_read(cost), err));
	FG_TRY_OUT(fg_fs_make_folders(parent, 0755, err));
	FG_TRY_OUT(make_apart(m, parent, cost, err));
	/* A concurrent run may have created the folder first. */
	if (rename(m->folder, folder) != 0 && !fg_fs_is_folder(folder))
		status = fg_error_errno(err, FG_EIO, "'%s'", folder);
out:
	free(parent);
	free(cost);
	return status;
}

bool fg_layouts_are_made(const struct fg_layouts_options *options)
{
	char *folder = NULL;
	bool made;

	if (can_be_linked(options, NULL) != FG_OK)
		return false;
	folder = final_folder(options);
	made = count_made(options, folder) > 0;
	free(folder);
	return made;
}

int fg_layouts_make(const struct fg_layouts_options *options, struct fg_target_layouts *layouts,
		    struct fg_error *err)
{
	struct maker m = {.options = options, .count = FG_LINE_PLACES};
	char *folder = NULL;
	int status = FG_OK;

	FG_TRY(can_be_linked(options, err));
	folder = final_folder(options);
	if (count_made(options, folder) == 0)
		status = make_folder(&m, folder, err);
	if (status == FG_OK)
		status = give(options, folder, layouts, err);
	if (m.folder && fg_fs_is_folder(m.folder))
		(void)!fg_fs_remove_tree(m.folder, NULL);
	fg_links_release(&m.noted);
	release_parts(&m);
	free(m.folder);
	free(folder);
	return status;
}
