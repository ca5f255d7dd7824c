// SPDX-License-Identifier: Apache-2.0
/* How likely a program is a benchmark, by its name and its folder's. */
#include "base/fs.h"
#include "base/text.h"
#include "cli/init/project.h"

#include <ctype.h>

static const char *const bench[] = {"bench", NULL};
static const char *const speed[] = {"perf",        "perftest", "perftests", "perfs",
				    "performance", "speed",    "speeds",    "speedtest",
				    "timing",      "timings",  NULL};
static const char *const tests[] = {"test", "tests",  "unittest", "unittests", "check",
				    "fuzz", "fuzzer", "fuzzing",  "conftest",  NULL};
static const char *const examples[] = {"example",  "examples", "demo",    "demos",
				       "tutorial", "sample",   "samples", NULL};
/* They wait for each other; a run of one alone measures nothing. */
static const char *const peers[] = {"server", "client", "daemon", "proxy", NULL};

static bool has_part(const char *name, const char *const *parts)
{
	while (*parts && !strcasestr(name, *parts))
		parts++;
	return *parts;
}

/* "perf" is a word of "api-perf" and of "perf2", but not of "perfect". */
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

bool fg_project_says_benchmark(const char *name)
{
	return has_part(name, bench) || has_word(name, speed);
}

/* "bzip2" and its "lib...", "...-cli" or "..._tool": the program that people install. */
static bool is_own(const struct fg_project *project, const char *name)
{
	const char *wanted = project->name ? project->name : "";
	size_t length = 0;

	if (fg_text_starts_with(wanted, "lib"))
		wanted += 3;
	length = strlen(wanted);
	return length > 1 && strncasecmp(name, wanted, length) == 0 &&
	       !isalpha((unsigned char)name[length]);
}

/* The first row that fits decides. */
enum fit {
	BENCHMARK_NAME,
	TEST_NAME,
	TEST_FOLDER,
	BENCHMARK_FOLDER,
	PEER_NAME,
	OWN_NAME,
	EXAMPLE,
	OTHER,
};

static const struct row {
	enum fit fit;
	int rank;
	const char *why; /* for people */
} rows[] = {
	{.fit = BENCHMARK_NAME, .rank = 150, .why = "named like a benchmark"},
	{.fit = TEST_NAME, .rank = FG_PROJECT_TEST_RANK, .why = "named like a test"},
	{.fit = TEST_FOLDER, .rank = FG_PROJECT_TEST_RANK, .why = "among the tests"},
	{.fit = BENCHMARK_FOLDER, .rank = FG_PROJECT_LIKELY_RANK, .why = "among the benchmarks"},
	{.fit = PEER_NAME, .rank = FG_PROJECT_TEST_RANK, .why = "waits for a peer"},
	{.fit = OWN_NAME, .rank = FG_PROJECT_OWN_RANK, .why = "named like the project"},
	{.fit = EXAMPLE, .rank = -30, .why = "an example"},
	{.fit = OTHER, .rank = 0, .why = "nothing speaks for it"},
};

static bool fits(enum fit fit, const struct fg_project *project, const char *folder,
		 const char *name)
{
	switch (fit) {
	case BENCHMARK_NAME:
		return fg_project_says_benchmark(name);
	case TEST_NAME:
		return has_word(name, tests);
	case TEST_FOLDER:
		return has_word(folder, tests) && !fg_project_says_benchmark(folder) &&
		       !is_own(project, name);
	case BENCHMARK_FOLDER:
		return fg_project_says_benchmark(folder);
	case PEER_NAME:
		return has_word(name, peers);
	case OWN_NAME:
		return is_own(project, name);
	case EXAMPLE:
		return has_word(name, examples) || has_word(folder, examples);
	case OTHER:
		return true;
	}
	return true;
}

int fg_project_rank(const struct fg_project *project, const char *path, enum fg_harness harness,
		    const char **reason)
{
	const char *name = fg_fs_base_name(path);
	char *folder = fg_xstrndup(path, (size_t)(name - path));
	const struct row *row = rows;
	int rank = 0;

	while (!fits(row->fit, project, folder, name))
		row++;
	rank = row->rank;
	*reason = row->why;
	/* "bench_test" may be either. */
	if (row->fit == BENCHMARK_NAME && has_word(name, tests))
		rank -= 30;
	if (harness != FG_HARNESS_NONE && row->fit != TEST_FOLDER && row->fit != TEST_NAME) {
		rank += 200;
		*reason = "linked with a benchmark harness";
	}
	free(folder);
	return rank;
}
