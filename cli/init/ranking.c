// SPDX-License-Identifier: Apache-2.0
/* Ranks programs by how likely they are benchmarks, from their names and folders. */
#include "base/fs.h"
#include "base/text.h"
#include "cli/init/project.h"

#include <ctype.h>

enum {
	OWN_MIN = 4 /* shortest prefix that identifies a project's own program */
};

static const char *const bench[] = {"bench", NULL};
static const char *const speed[] = {"perf",        "perftest", "perftests", "perfs",
				    "performance", "speed",    "speeds",    "speedtest",
				    "throughput",  "timing",   "timings",   NULL};
static const char *const tests[] = {"test", "tests", "unittest", "unittests", "check", NULL};
/* Programs that wait forever for input, belong to configure, or test a handshake. */
static const char *const probes[] = {"fuzz", "fuzzer", "fuzzing", "conftest", "handshake", NULL};
static const char *const examples[] = {"example",  "examples", "demo",    "demos",
				       "tutorial", "sample",   "samples", NULL};
/* Programs that wait for each other: running one alone measures nothing. */
static const char *const peers[] = {"server", "client", "daemon", "proxy", NULL};
/* Programs that make sources, tables or documents for the build. */
static const char *const generators[] = {"generate", "generator", "gendata", "embed",
					 "makekey",  "install",   NULL};

static bool has_part(const char *name, const char *const *parts)
{
	while (*parts && !strcasestr(name, *parts))
		parts++;
	return *parts;
}

/* "perf" is a word of "api-perf" and "perf2", but not of "perfect". */
static bool has_word(const char *name, const char *const *words)
{
	for (; *words; words++) {
		const size_t length = strlen(*words);

		for (const char *at = strcasestr(name, *words); at;
		     at = strcasestr(at + 1, *words)) {
			if ((at == name || !isalpha((unsigned char)at[-1])) &&
			    !isalpha((unsigned char)at[length]))
				return true;
		}
	}
	return false;
}

bool fg_project_is_benchmark_name(const char *name)
{
	return has_part(name, bench) || has_word(name, speed);
}

/*
 * Returns the project's name without "lib"; `length` leaves out digits at the end: "lzo" for
 * "liblzo2".
 */
static const char *stem_of(const struct fg_project *project, size_t *length)
{
	const char *name = project->name;

	*length = 0;
	if (!name)
		return "";
	if (fg_text_starts_with(name, "lib"))
		name += 3;
	*length = strlen(name);
	while (*length > 1 && isdigit((unsigned char)name[*length - 1]))
		*length -= 1;
	return name;
}

struct candidate {
	const struct fg_project *project;
	const char *folder;
	const char *name;
};

bool fg_project_is_for_administrators(const struct fg_project *project)
{
	const char *pages = project->manual ? project->manual : "";

	for (const char *at = strstr(pages, ".8"); at; at = strstr(at + 1, ".8")) {
		/* Accept "ndisc6.8", but not "news-1.8". */
		if (at > pages + 1 &&
		    isalpha((unsigned char)at[isdigit((unsigned char)at[-1]) ? -2 : -1]) &&
		    strchr(".\n", at[2]))
			return true;
	}
	return false;
}

/*
 * Does the name suggest the program that people install? Examples are "bzip2" and "bzip2-cli" of
 * bzip2, "serdi" of serd, "jot" of athena-jot, and "yagi" of yagiuda.
 */
static bool is_own(const struct candidate *c)
{
	size_t length = 0;
	const char *stem = stem_of(c->project, &length);

	if (fg_project_is_for_administrators(c->project))
		return false;
	if (length > 1 && strncasecmp(c->name, stem, length) == 0)
		return length >= OWN_MIN || !isalpha((unsigned char)c->name[length]);
	return strlen(c->name) >= OWN_MIN - 1 && strcasestr(stem, c->name);
}

static bool has_benchmark_name(const struct candidate *c)
{
	return fg_project_is_benchmark_name(c->name);
}

/* Matches "selftest", "test_unit", "testart" and "runcheck". */
static bool has_test_name(const struct candidate *c)
{
	return strcasestr(c->name, "test") || fg_text_ends_with(c->name, "check");
}

/* Does the program test the whole library, like "lzotest" of lzo? */
static bool is_driver(const struct candidate *c)
{
	size_t length = 0;
	const char *stem = stem_of(c->project, &length);

	return length > 1 && strncasecmp(c->name, stem, length) == 0 &&
	       strcasecmp(c->name + length, "test") == 0;
}

static bool is_probe(const struct candidate *c)
{
	return has_word(c->name, probes) || has_word(c->folder, probes);
}

static bool is_among_tests(const struct candidate *c)
{
	return has_word(c->folder, tests) && !fg_project_is_benchmark_name(c->folder) && !is_own(c);
}

static bool is_among_benchmarks(const struct candidate *c)
{
	return fg_project_is_benchmark_name(c->folder);
}

static bool is_peer(const struct candidate *c)
{
	return has_word(c->name, peers);
}

/* Does the program have a page in section 1 of the manual, like "man/jot.1"? */
static bool is_command(const struct candidate *c)
{
	const char *pages = c->project->manual ? c->project->manual : "";
	const size_t length = strlen(c->name);

	for (const char *at = strstr(pages, c->name); at; at = strstr(at + 1, c->name)) {
		if ((at == pages || strchr("/\n", at[-1])) &&
		    fg_text_starts_with(at + length, ".1") && strchr(".\n", at[length + 2]))
			return !fg_project_is_for_administrators(c->project);
	}
	return false;
}

/* Does the README show how to call the program: "$ ./glistquery FILE"? */
static bool is_shown(const struct candidate *c)
{
	const char *text = c->project->readme ? c->project->readme : "";
	const size_t length = strlen(c->name);

	for (const char *at = strstr(text, c->name); at; at = strstr(at + 1, c->name)) {
		const char *begin = at;
		const char *after = at + length + strspn(at + length, " ");

		while (begin > text &&
		       (isalnum((unsigned char)begin[-1]) || strchr("._/-", begin[-1])))
			begin--;
		if (begin < at && at[-1] != '/')
			continue;
		while (begin > text && strchr(" \t>`$%#", begin[-1]))
			begin--;
		/* In a sentence, the next word would be in lower case. */
		if ((begin == text || begin[-1] == '\n') && after > at + length &&
		    !islower((unsigned char)*after) && !strchr("=:\n", *after))
			return !fg_project_is_for_administrators(c->project);
	}
	return false;
}

/* Requires both the name and the README to agree, because either alone is often wrong. */
static bool is_own_and_shown(const struct candidate *c)
{
	return is_own(c) && is_shown(c);
}

static bool is_example(const struct candidate *c)
{
	return has_word(c->name, examples) || has_word(c->folder, examples);
}

static bool is_generator(const struct candidate *c)
{
	return strncasecmp(c->name, "make", 4) == 0 || strncasecmp(c->name, "mk", 2) == 0 ||
	       strncasecmp(c->name, "gen", 3) == 0 || has_word(c->name, generators);
}

/* The first matching row decides. */
static const struct row {
	bool (*fits)(const struct candidate *c);
	int rank;
	const char *why; /* reason, for people */
} rows[] = {
	{.fits = has_benchmark_name, .rank = 150, .why = "named like a benchmark"},
	{.fits = is_driver, .rank = 20, .why = "a test of the whole library"},
	{.fits = is_probe, .rank = FG_PROJECT_NEVER_RANK, .why = "a probe"},
	{.fits = is_peer, .rank = FG_PROJECT_NEVER_RANK, .why = "waits for a peer"},
	{.fits = has_test_name, .rank = FG_PROJECT_TEST_RANK, .why = "named like a test"},
	{.fits = is_among_tests, .rank = FG_PROJECT_TEST_RANK, .why = "in a folder of tests"},
	{.fits = is_among_benchmarks,
	 .rank = FG_PROJECT_LIKELY_RANK,
	 .why = "in a folder of benchmarks"},
	{.fits = is_own_and_shown,
	 .rank = FG_PROJECT_SURE_RANK,
	 .why = "named like the project, and the README shows its use"},
	{.fits = is_shown, .rank = FG_PROJECT_OWN_RANK + 20, .why = "the README shows its use"},
	{.fits = is_own, .rank = FG_PROJECT_OWN_RANK + 10, .why = "named like the project"},
	{.fits = is_command, .rank = FG_PROJECT_OWN_RANK, .why = "a command with a manual page"},
	{.fits = is_example, .rank = -30, .why = "an example"},
	{.fits = is_generator, .rank = FG_PROJECT_TOOL_RANK, .why = "named like a generator"},
};

void fg_project_rank(const struct fg_project *project, struct fg_project_program *program)
{
	const char *name = fg_fs_base_name(program->path);
	char *folder = fg_xstrndup(program->path, (size_t)(name - program->path));
	const struct candidate candidate = {.project = project, .folder = folder, .name = name};
	size_t i = 0;

	while (i < FG_ARRAY_SIZE(rows) && !rows[i].fits(&candidate))
		i++;
	program->rank = i < FG_ARRAY_SIZE(rows) ? rows[i].rank : 0;
	program->reason = i < FG_ARRAY_SIZE(rows) ? rows[i].why : "no sign of a benchmark";
	/* "bench_test" may be a benchmark or a test */
	if (has_benchmark_name(&candidate) && has_word(name, tests))
		program->rank -= 30;
	if (program->harness == FG_HARNESS_DOCTEST && !has_benchmark_name(&candidate)) {
		program->rank = FG_PROJECT_TEST_RANK;
		program->reason = "a test suite";
	}
	if (program->harness != FG_HARNESS_NONE && program->rank > FG_PROJECT_TEST_RANK) {
		program->rank += 200;
		program->reason = "linked with a benchmark harness";
	}
	free(folder);
}

/*
 * Ranks the only program that is not a test, example or tool as the project's own, whatever its
 * name, unless the project is a library or for administrators.
 */
void fg_project_prefer_only(struct fg_project *project)
{
	struct fg_project_program *only = NULL;

	if ((project->name && fg_text_starts_with(project->name, "lib")) ||
	    fg_project_is_for_administrators(project))
		return;
	for (size_t i = 0; i < project->program_count; i++) {
		struct fg_project_program *program = &project->programs[i];

		if (program->rank > 0 || (program->rank == 0 && only))
			return;
		if (program->rank == 0)
			only = program;
	}
	if (only) {
		only->rank = FG_PROJECT_OWN_RANK;
		only->reason = "the only program";
	}
}
