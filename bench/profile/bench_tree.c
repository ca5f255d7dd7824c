// SPDX-License-Identifier: Apache-2.0
/*
 * A million samples, 300 frames deep, from a trace file to a call tree.
 *
 *	bench_profile_tree make FILE     writes the trace: 20,000 functions in 600 libraries; as in
 *	                                 a real program, each sample differs from the previous one
 *	                                 only somewhere in its upper 30 frames
 *	bench_profile_tree read FILE     reads it, builds the tree, prints times and peak memory
 *	bench_profile_tree export FILE PPROF
 */
#include "base/base.h"
#include "base/clock.h"
#include "base/fs.h"
#include "profile/calltree.h"
#include "profile/exchange/export.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "tests/support/trace_program.h"

#include <sys/resource.h>

enum {
	SAMPLES = 1000000
};

static int make(const char *file)
{
	static const struct fg_trace_program program = {.samples = SAMPLES,
							.depth = 300,
							.functions = 20000,
							.libraries = 600,
							.upper = 30,
							.branching_percent = 6,
							.mostly_near = true};
	struct fg_trace_writer w;
	struct fg_error err = {0};
	uint32_t paths;
	size_t size;
	const char *bytes;
	int status;

	fg_trace_writer_init(&w);
	paths = fg_trace_program_write(&program, &w);
	bytes = fg_trace_writer_finish(&w, &size);
	status = fg_fs_write_atomic(file, bytes, size, 0644, &err);
	(void)printf("made %zu bytes, %u call paths, %.1f bytes a sample\n", size, paths,
		     (double)size / SAMPLES);
	fg_trace_writer_release(&w);
	return status == FG_OK ? 0 : 1;
}

/*
 * Measures CPU time, so that other jobs do not count. It is close to elapsed time: the benchmark
 * has one thread and never waits for a disk.
 */
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
	int status = fg_profile_read_traces(file, symbolizer, &profile, &err);

	if (status != FG_OK)
		goto out;
	status = fg_export_find("pprof")->write(&profile, &options, &out, &err);
	fg_profile_release(&profile);
	if (status != FG_OK)
		goto out;
	status = fg_fs_write_atomic(to, out.data, out.length, 0644, &err);
out:
	if (status != FG_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	fg_strbuf_release(&out);
	fg_symbolizer_free(symbolizer);
	return status == FG_OK ? 0 : 1;
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
