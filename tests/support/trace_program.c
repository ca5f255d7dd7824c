// SPDX-License-Identifier: Apache-2.0
#include "tests/support/trace_program.h"

#include "base/pair_index.h"
#include "base/random.h"

struct state {
	const struct fg_trace_program *program;
	struct fg_trace_writer *w;
	struct fg_random random;
	struct fg_pair_index paths;
	uint32_t *stack;  /* call path at each depth */
	uint64_t *frames; /* frame at each depth */
	uint32_t depth;
	uint32_t next; /* number of the next call path */
};

static void write_frames(const struct state *s)
{
	for (uint64_t i = 1; i <= s->program->libraries; i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/nowhere/lib%03u.so", (unsigned)i);
		fg_trace_writer_module(s->w, i, path, (const uint8_t *)&i, sizeof(i));
	}
	for (uint64_t i = 1; i <= s->program->functions; i++)
		FG_TW(s->w, FG_RECORD_FRAME, i, i % s->program->libraries + 1, 0x1000 + i * 64, 0);
}

static uint32_t frames_to_leave(struct state *s)
{
	const uint32_t upper = s->program->upper;
	const uint64_t bound =
		s->program->mostly_near ? 1 + fg_random_below(&s->random, upper) : upper;

	return 1 + (uint32_t)fg_random_below(&s->random, bound);
}

/*
 * Calls the frame's usual callee or, on another branch, a second one. A path and a branch always
 * lead to the same frame, so paths occur repeatedly, as in a real program.
 */
static void step_down(struct state *s)
{
	const struct fg_trace_program *program = s->program;
	const uint64_t turn = s->depth >= program->depth - program->upper &&
			      fg_random_below(&s->random, 100) < program->branching_percent;
	const uint32_t above = s->depth++;
	const uint64_t frame = (s->frames[above] * 31 + s->depth * UINT64_C(17) + turn * 7919) %
				       program->functions +
			       1;
	bool is_new = false;

	s->frames[s->depth] = frame;
	s->stack[s->depth] =
		*fg_pair_index_add(&s->paths, s->stack[above], (uint32_t)frame, s->next, &is_new);
	if (is_new) {
		FG_TW(s->w, FG_RECORD_NODE, s->next, s->stack[above], frame);
		s->next++;
	}
}

uint32_t fg_trace_program_write(const struct fg_trace_program *program, struct fg_trace_writer *w)
{
	struct state s = {
		.program = program,
		.w = w,
		.stack = fg_xcalloc(program->depth + 1, sizeof(s.stack[0])),
		.frames = fg_xcalloc(program->depth + 1, sizeof(s.frames[0])),
		.next = 1,
	};

	fg_random_seed(&s.random, 1);
	write_frames(&s);
	FG_TW(w, FG_RECORD_THREAD_BEGIN, 1, 77, 1000, FG_THREAD_MAIN, FG_CLOCK_PERF_USER);
	for (size_t i = 0; i < program->samples; i++) {
		const uint32_t back = frames_to_leave(&s);

		s.depth = s.depth > back ? s.depth - back : 0;
		while (s.depth < program->depth)
			step_down(&s);
		fg_trace_writer_sample(w, FG_CLOCK_PERF_USER, 1000000, s.stack[s.depth], 0);
	}
	fg_pair_index_release(&s.paths);
	free(s.stack);
	free(s.frames);
	return s.next - 1;
}
