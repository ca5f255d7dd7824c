// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/sample_weight.h"

#include <stdlib.h>

enum {
	NEIGHBOURS = 16 /* samples levelled together; the last group has up to 31 */
};

bool fg_cpu_account_parse(const char *text, struct fg_cpu_account *account)
{
	char *end = NULL;
	char *last = NULL;

	account->used_ns = strtoull(text, &end, 10);
	account->queued_ns = strtoull(end, &last, 10);
	return end != text && last != end;
}

/*
 * Fastgate, woken up at the sampled moment, may have preempted the thread: then the thread has
 * queued since that moment. A thread that has queued for longer was not running then.
 */
uint64_t fg_sample_weight(const struct fg_moment *moment, const struct fg_cpu_account *stopped,
			  int64_t stopped_ns, uint64_t weighed_ns)
{
	const uint64_t queued_ns = stopped->queued_ns - moment->account.queued_ns;

	if (stopped->queued_ns < moment->account.queued_ns || stopped_ns < moment->at_ns ||
	    queued_ns > (uint64_t)(stopped_ns - moment->at_ns) || stopped->used_ns <= weighed_ns)
		return 0;
	return stopped->used_ns - weighed_ns;
}

static void level(struct fg_sampled *samples, size_t count)
{
	uint64_t left_ns = 0;
	double periods_ns = 0;

	for (size_t i = 0; i < count; i++) {
		left_ns += samples[i].weight_ns;
		periods_ns += (double)samples[i].period_ns;
	}
	for (size_t i = 0; i < count; i++) {
		samples[i].weight_ns =
			i + 1 == count ? left_ns
				       : (uint64_t)((double)left_ns * (double)samples[i].period_ns /
						    periods_ns);
		left_ns -= samples[i].weight_ns;
		periods_ns -= (double)samples[i].period_ns;
	}
}

void fg_samples_level(struct fg_sampled *samples, size_t count)
{
	while (count >= (size_t)2 * NEIGHBOURS) {
		level(samples, NEIGHBOURS);
		samples += NEIGHBOURS;
		count -= NEIGHBOURS;
	}
	level(samples, count);
}
