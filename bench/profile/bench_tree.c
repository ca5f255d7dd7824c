// SPDX-License-Identifier: Apache-2.0
/*
 * A million samples, 300 frames deep, from a trace file to a call tree.
 *
 *	bench_profile_tree make FILE     writes the trace: 20,000 functions in 600 libraries; each sample leaves the stack of the
 *	                                 one before it somewhere in its upper 30 frames and seldom takes another turn, as a program does
 *	bench_profile_tree read FILE     reads it, builds the tree, prints times and the peak of memory
 *	bench_profile_tree export FILE PPROF
 */
#include "base/base.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "profile/calltree.h"
#include "profile/export.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "tests/unit/profile/trace_writer.h"

#include <sys/resource.h>

enum {
	SAMPLES = 1000000,
	DEPTH = 300,
	FUNCTIONS = 20000,
	LIBRARIES = 600,
	UPPER = 30,
	BRANCHING_PERCENT = 6
};

static void write_frames(struct fg_trace_writer *w)
{
	for (uint64_t i = 1; i <= LIBRARIES; i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/nowhere/lib%03u.so", (unsigned)i);
		fg_trace_writer_module(w, i, path, (const uint8_t *)&i, sizeof(i));
	}
	for (uint64_t i = 1; i <= FUNCTIONS; i++)
		FG_TW(w, FG_RECORD_FRAME, i, i % LIBRARIES + 1, 0x1000 + i * 64, 0);
}

/* The callee that the choice leads to: the same path gets the same frames, so paths are met again as in a program. */
static uint64_t frame_below(uint64_t frame, uint64_t depth, uint64_t choice)
{
	return (frame * 31 + depth * 17 + choice * 7919) % FUNCTIONS + 1;
}

static int make(const char *file)
{
	struct fg_pair_index paths = {0};
	struct fg_trace_writer w;
	struct fg_random random;
	struct fg_error err = {0};
	uint32_t stack[DEPTH + 1] = {0};
	uint64_t frames[DEPTH + 1] = {0};
	uint32_t next = 1;
	size_t depth = 0;
	size_t size;
	const char *bytes;
	int rc;

	fg_random_seed(&random, 1);
	fg_trace_writer_init(&w);
	write_frames(&w);
	FG_TW(&w, FG_RECORD_THREAD_BEGIN, 1, 77, 1000, FG_THREAD_MAIN, FG_CLOCK_PERF_USER);
	for (size_t i = 0; i < SAMPLES; i++) {
		/* most samples differ in the last frames only */
		size_t back = 1 + fg_random_below(&random, 1 + fg_random_below(&random, UPPER));

		depth = depth > back ? depth - back : 0;
		while (depth < DEPTH) {
			uint64_t choice = depth >= DEPTH - UPPER &&
					  fg_random_below(&random, 100) < BRANCHING_PERCENT;
			bool is_new;

			depth++;
			frames[depth] = frame_below(frames[depth - 1], depth, choice);
			stack[depth] = *fg_pair_index_add(&paths, stack[depth - 1],
							  (uint32_t)frames[depth], next, &is_new);
			if (is_new)
				FG_TW(&w, FG_RECORD_NODE, next++, stack[depth - 1], frames[depth]);
		}
		fg_trace_writer_sample(&w, FG_CLOCK_PERF_USER, 1000000, stack[DEPTH], 0);
	}
	bytes = fg_trace_writer_finish(&w, &size);
	rc = fg_fs_write_atomic(file, bytes, size, 0644, &err);
	(void)printf("made %zu bytes, %u call paths, %.1f bytes a sample\n", size, next - 1,
		     (double)size / SAMPLES);
	fg_trace_writer_release(&w);
	fg_pair_index_release(&paths);
	return rc == FG_OK ? 0 : 1;
}

/* CPU time: one thread, all of it in memory and page cache; another job on the machine does not show. */
static double since_ms(int64_t start_ns)
{
	return (double)(fg_clock_process_cpu_ns() - start_ns) / 1e6;
}

static int read_back(const char *file)
{
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	struct fg_profile profile;
	struct fg_calltree tree;
	struct fg_error err = {0};
	struct rusage usage;
	int64_t start = fg_clock_process_cpu_ns();
	double read_ms;

	if (fg_profile_read_traces(file, symbolizer, &profile, &err) != FG_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	read_ms = since_ms(start);
	if (fg_calltree_build(&profile, &(struct fg_calltree_query){0}, &tree, &err) != FG_OK)
		return 1;
	(void)getrusage(RUSAGE_SELF, &usage);
	(void)printf("tree_ms %.1f read_ms %.1f peak_mb %.1f samples %zu nodes %zu\n",
		     since_ms(start), read_ms, (double)usage.ru_maxrss / 1024, profile.sample_count,
		     tree.node_count);
	fg_calltree_release(&tree);
	fg_profile_release(&profile);
	fg_symbolizer_free(symbolizer);
	return 0;
}

static int export_pprof(const char *file, const char *to)
{
	const struct fg_export_options options = {0};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	struct fg_profile profile;
	struct fg_strbuf out = {0};
	struct fg_error err = {0};
	int rc = fg_profile_read_traces(file, symbolizer, &profile, &err);

	if (rc == FG_OK) {
		rc = fg_export_write(fg_export_find("pprof"), &profile, &options, &out, &err);
		fg_profile_release(&profile);
	}
	if (rc == FG_OK)
		rc = fg_fs_write_atomic(to, out.data, out.length, 0644, &err);
	if (rc != FG_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	fg_strbuf_release(&out);
	fg_symbolizer_free(symbolizer);
	return rc == FG_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "export") == 0)
		return export_pprof(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "make") == 0)
		return make(argv[2]);
	if (argc == 3 && strcmp(argv[1], "read") == 0)
		return read_back(argv[2]);
	(void)fprintf(stderr, "usage: %s make|read|export FILE [PPROF]\n", argv[0]);
	return 2;
}
