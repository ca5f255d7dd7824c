// SPDX-License-Identifier: Apache-2.0
/* 32-bit and arm64 programs run without counting; a note in the trace reports that. */
#include "collector/counting/count_hooks.h"
#include "collector/sampler/writer.h"

static void on_introduce(struct fg_thread *thread)
{
	(void)fg_note(thread, "calls of named functions are counted only in x86-64 programs");
}

static void on_thread_end(struct fg_thread *thread, bool is_last)
{
	(void)thread;
	(void)is_last;
}

static void on_fork(void)
{
}

static const struct fg_count_hooks hooks = {
	.introduce = on_introduce,
	.thread_end = on_thread_end,
	.forked = on_fork,
};

__attribute__((constructor(101))) static void join_in(void)
{
	fg_count_hooks = &hooks;
}
