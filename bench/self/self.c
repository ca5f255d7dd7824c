// SPDX-License-Identifier: Apache-2.0
#include "bench/self/self.h"

#include "base/random.h"
#include "tests/support/trace_program.h"
#include "tests/unit/store/samples.h"

void fg_self_must(int status, const struct fg_error *err)
{
	if (status == FG_OK)
		return;
	(void)fprintf(stderr, "%s\n", err->message);
	exit(1);
}

char *fg_self_trace(size_t samples, size_t *size)
{
	const struct fg_trace_program program = {.samples = samples,
						 .depth = 120,
						 .functions = 4000,
						 .libraries = 100,
						 .upper = 24,
						 .branching_percent = 10};
	struct fg_trace_writer w;
	const char *bytes = NULL;
	char *copy = NULL;

	fg_trace_writer_init(&w);
	(void)fg_trace_program_write(&program, &w);
	bytes = fg_trace_writer_finish(&w, size);
	copy = fg_xmalloc(*size);
	memcpy(copy, bytes, *size);
	fg_trace_writer_release(&w);
	return copy;
}

void fg_self_run(struct fg_stored_run *run, uint64_t seed)
{
	static const struct fg_sample_shape shape = {
		.functions = 1000, .paths = 4000, .pairs = 40, .samples = 40000};

	fg_sample_run(run, seed, &shape);
}
