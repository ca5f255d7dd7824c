/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the weights of a thread come to add up to its CPU time.
 *
 * Three clocks speak of the same thread, and each is right about something else:
 *
 *	the CPU clock       is exact, and does not know user from system time
 *	the perf clock      samples user time without bias, P nanoseconds each.  But its timer runs on in the kernel, and
 *	                    right after it has expired the thread is always in the kernel, for our own signal: that piece
 *	                    of system time lies in every period, is never met, and is paid for by the sample
 *	getrusage           splits the CPU time by what was met at kernel ticks (every 4 ms where CONFIG_HZ is 250): a coarse sample,
 *	                    that can lock to a program with the same rhythm, and counts our signal's kernel time as well
 *
 * Adding the first sample's P to getrusage's system time would count the kernel's part of a signal
 * twice: 0.6 % of a run at 1,000 samples a second, 6 % at 10,000.  So the CPU clock has the last
 * word: at a tick, what it says beyond the user samples is owed to system time.  getrusage may say
 * how much of that is given out, but only as far as a period away from what is owed (a sample
 * stands for anything within one): a thread too short for the CPU clock to say more gets what
 * getrusage says, and a long one adds up to its CPU time within a period.
 *
 *	CPU clock 200 ms, 180 user samples of 1 ms: 20 ms are owed.  getrusage says 26 ms: 21 are given.
 *	CPU clock 1.5 ms, 1 user sample: 0.5 ms are owed.  getrusage says none: none are given.
 *
 * Pure: no clock is read here.
 */
#ifndef FG_COLLECTOR_ACCOUNT_H
#define FG_COLLECTOR_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* What the kernel has counted for a thread so far. */
struct fg_times {
	uint64_t cpu_ns;
	uint64_t user_ns; /* getrusage */
	uint64_t system_ns;
};

struct fg_account {
	struct fg_times last;
	bool split_known;     /* last.user_ns and last.system_ns are */
	bool on;              /* sampling was on at the last look, */
	uint32_t switches;    /* and had been switched so many times */
	uint64_t sampled_ns;  /* user samples since */
	int64_t owed_ns;      /* CPU time that is in no sample */
	int64_t unsampled_ns; /* getrusage's system time that is in no sample */
};

/*
 * The first period of the perf clock, from a random phase of its period.  Its timer goes on with it
 * until the handler has set the whole one, and an interrupt with its signal takes 30 to 60 us on a
 * virtual machine: with less between them the next is due as soon as the last has ended, and the
 * thread does not come to the handler for seconds.  What a shorter first period would have met is
 * met at the end of this one: a thread that lasts as long is met as often as it should be.
 */
uint64_t fg_account_first_period(uint64_t phase_ns, uint64_t period_ns);

/* `now` of a thread that begins; of another thread getrusage cannot tell (!split_known). */
void fg_account_open(struct fg_account *account, const struct fg_times *now, bool split_known);

static inline void fg_account_user(struct fg_account *account, uint64_t weight_ns)
{
	account->sampled_ns += weight_ns;
}

/*
 * Bring it up to date.  `split` is filled with the user and system time since the last look.  Time
 * at the end of which sampling is not what it was at the beginning is nobody's: how much of it was
 * sampled is not known.  That is little if one looks as soon as that can be seen
 * (fg_account_is_behind).  Time in which it was switched and switched back owes what getrusage
 * says, and at most what is in no sample.
 */
void fg_account_look(struct fg_account *account, const struct fg_times *now, bool on,
		     uint32_t switches, struct fg_times *split);

/* Sampling has been switched since the last look. */
static inline bool fg_account_is_behind(const struct fg_account *account, bool on,
					uint32_t switches)
{
	return on != account->on || switches != account->switches;
}

/* System time to be given to a sample now; 0 if there is none. */
uint64_t fg_account_due(const struct fg_account *account, uint64_t period_ns);
void fg_account_give(struct fg_account *account, uint64_t weight_ns);

#endif
