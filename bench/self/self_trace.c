// SPDX-License-Identifier: Apache-2.0
/* Reading a trace, as after every sampled execution. */
#include "bench/self/self.h"
#include "trace/trace_read.h"

enum {
	SAMPLES = 20000,
	TIMES = 60,
};

int main(void)
{
	struct fg_error err = {0};
	size_t size = 0;
	size_t samples = 0;
	char *bytes = fg_self_trace(SAMPLES, &size);

	for (int i = 0; i < TIMES; i++) {
		struct fg_trace trace = {0};

		fg_self_must(fg_trace_parse(bytes, size, "trace", &trace, &err), &err);
		samples += trace.sample_count;
		fg_trace_release(&trace);
	}
	free(bytes);
	(void)printf("%zu samples\n", samples);
	return samples == (size_t)SAMPLES * TIMES ? 0 : 1;
}
