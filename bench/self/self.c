// SPDX-License-Identifier: Apache-2.0
#include "bench/self/self.h"

#include "base/random.h"
#include "tests/unit/profile/trace_writer.h"
#include "tests/unit/store/samples.h"

enum {
	DEPTH = 120,
	FUNCTIONS = 4000,
	LIBRARIES = 100,
	UPPER = 24,
	BRANCHING_PERCENT = 10,
};

void fg_self_must(int status, const struct fg_error *err)
{
	if (status == FG_OK)
		return;
	(void)fprintf(stderr, "%s\n", err->message);
	exit(1);
}

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

char *fg_self_trace(size_t samples, size_t *size)
{
	struct fg_pair_index paths = {0};
	struct fg_trace_writer w;
	struct fg_random random;
	uint32_t stack[DEPTH + 1] = {0};
	uint64_t frames[DEPTH + 1] = {0};
	uint32_t next = 1;
	size_t depth = 0;
	const char *bytes = NULL;
	char *copy = NULL;

	fg_random_seed(&random, 1);
	fg_trace_writer_init(&w);
	write_frames(&w);
	FG_TW(&w, FG_RECORD_THREAD_BEGIN, 1, 77, 1000, FG_THREAD_MAIN, FG_CLOCK_PERF_USER);
	for (size_t i = 0; i < samples; i++) {
		const size_t back = 1 + fg_random_below(&random, UPPER);

		/* The stack of the sample before, left somewhere in its upper frames. */
		depth = depth > back ? depth - back : 0;
		while (depth < DEPTH) {
			const uint64_t turn = depth >= DEPTH - UPPER &&
					      fg_random_below(&random, 100) < BRANCHING_PERCENT;
			bool is_new = false;

			depth++;
			frames[depth] =
				(frames[depth - 1] * 31 + depth * 17 + turn * 7919) % FUNCTIONS + 1;
			stack[depth] = *fg_pair_index_add(&paths, stack[depth - 1],
							  (uint32_t)frames[depth], next, &is_new);
			if (is_new) {
				FG_TW(&w, FG_RECORD_NODE, next, stack[depth - 1], frames[depth]);
				next++;
			}
		}
		fg_trace_writer_sample(&w, FG_CLOCK_PERF_USER, 1000000, stack[DEPTH], 0);
	}
	bytes = fg_trace_writer_finish(&w, size);
	copy = fg_xmalloc(*size);
	memcpy(copy, bytes, *size);
	fg_trace_writer_release(&w);
	fg_pair_index_release(&paths);
	return copy;
}

void fg_self_run(struct fg_stored_run *run, uint64_t seed)
{
	static const struct fg_sample_shape shape = {
		.functions = 1000, .paths = 4000, .pairs = 40, .samples = 40000};

	fg_sample_run(run, seed, &shape);
}
