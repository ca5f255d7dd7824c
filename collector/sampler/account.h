/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the weights of a thread add up to its CPU time.
 *
 * Two clocks measure the same thread, and each is right about something else:
 *
 *	the CPU clock    is exact, and does not know user from system time
 *	the perf clock   samples user time without bias, P nanoseconds each.  But its timer goes on
 *	                 in the kernel, and right after it has expired the thread is always in the
 *	                 kernel, for our own signal: that piece of system time lies in every
 *	                 period, is never met, and is paid for by the sample
 *
 * So the CPU clock has the last word: what it counts beyond the user samples is owed to system
 * time, and whichever sample meets the thread in the kernel gets it.  What is owed swings around
 * the truth by a period; a debt below zero is carried on, and what a thread leaves behind goes to
 * the process, from where the next thread that is met in the kernel for the first time fetches it.
 * So threads too short to be met in the kernel do not lose their system time, nor is noise mistaken
 * for it.
 *
 *	CPU clock 200 ms, 180 user samples of 1 ms: 20 ms are owed.
 *	Two threads of 1.5 ms, one user sample and two: 0.5 ms and -0.5 ms, nothing in all.
 *
 * The kernel's own split (getrusage) does not help: it is sampled at kernel ticks, with which a
 * program can be in step, and counts the delivery of our signals as system time.
 *
 * Pure: no clock is read here.
 */
#ifndef FG_COLLECTOR_ACCOUNT_H
#define FG_COLLECTOR_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's totals for a thread. */
struct fg_times {
	uint64_t cpu_ns;
	uint64_t user_ns; /* getrusage */
	uint64_t system_ns;
	uint64_t faults;
	uint64_t departures; /* times that it left its CPU */
};

struct fg_account {
	struct fg_times last;
	bool on;             /* sampling was on at the last look */
	uint32_t switches;   /* times that sampling had been switched by then */
	uint64_t sampled_ns; /* user samples since the last look */
	int64_t owed_ns;     /* CPU time that is in no sample */
};

/*
 * The first period of the perf clock, from a random phase of its period.  Its timer goes on with it
 * until the handler has set the whole one, and an interrupt with its signal takes 30 to 60 us on a
 * virtual machine: with less between them the next is due as soon as the last has ended, and the
 * thread does not come to the handler for seconds.  What a shorter first period would have met is
 * met at the end of this one: a thread that lasts as long is met as often as it should be.
 */
uint64_t fg_account_first_period(uint64_t phase_ns, uint64_t period_ns);

/* `now`: the account of a new thread. */
void fg_account_open(struct fg_account *account, const struct fg_times *now);

static inline void fg_account_user(struct fg_account *account, uint64_t weight_ns)
{
	account->sampled_ns += weight_ns;
}

/*
 * Bring it up to date.  `split` gets what was added since the last look.  Time at the end of which
 * sampling is not what it was at the beginning is nobody's: how much of it was sampled is not
 * known.  That is little if one looks as soon as that can be seen (fg_account_is_behind).  Time in
 * which it was switched and switched back owes what getrusage says, and at most what is in no
 * sample.
 */
void fg_account_look(struct fg_account *account, const struct fg_times *now, bool on,
		     uint32_t switches, struct fg_times *split);

/* Sampling has been switched since the last look. */
static inline bool fg_account_is_behind(const struct fg_account *account, bool on,
					uint32_t switches)
{
	return on != account->on || switches != account->switches;
}

/* System time owed to the next sample, or 0. */
static inline uint64_t fg_account_due(const struct fg_account *account)
{
	return account->owed_ns > 0 ? (uint64_t)account->owed_ns : 0;
}

/* CPU time in no sample if the CPU clock reads `cpu_ns` now, as a look would find it. */
static inline int64_t fg_account_ahead(const struct fg_account *account, uint64_t cpu_ns)
{
	return account->owed_ns + (int64_t)(cpu_ns - account->last.cpu_ns - account->sampled_ns);
}

/*
 * System time for the next of `left` moments at which a clock of its own has met the thread in the
 * kernel, each of which stands for `each_ns`.  The two clocks drift apart by chance; what is owed
 * beyond, or not owed at all, is made up for in small portions by the moments to come, lest those
 * that come at a certain time get more than others; by these alone if they are the last.
 */
uint64_t fg_account_portion(const struct fg_account *account, uint32_t left, uint64_t each_ns,
			    bool is_last);

static inline void fg_account_give(struct fg_account *account, uint64_t weight_ns)
{
	account->owed_ns -= (int64_t)weight_ns;
}

/*
 * Did page faults take most of what is owed?  They return to the instruction that faulted, so the
 * pc does not tell.  Either the kernel counted mostly system time, or one of its faults takes
 * longer than the share of the debt that falls to it.
 */
bool fg_account_is_fault(const struct fg_times *split, uint64_t due_ns);

#endif
