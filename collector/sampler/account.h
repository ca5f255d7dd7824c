/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a thread's weights add up to its CPU time.
 *
 * Two clocks measure the same thread, and each has a strength:
 *
 *	the CPU clock    is exact, but does not distinguish user from system time
 *	the perf clock   samples user time without bias, P nanoseconds each.  But its timer keeps
 *	                 running in the kernel, and right after it has expired the thread is always
 *	                 in the kernel, for our own signal: that part of the system time lies in
 *	                 every period, is never sampled, and is charged to the sample
 *
 * So the CPU clock decides: time that it counts beyond the user samples is owed to system time, and
 * the next sample that finds the thread in the kernel gets it. The debt is off by up to a period in
 * either direction; a negative debt is carried over. A thread that ends leaves its debt to the
 * process, and the next thread that is found in the kernel for the first time gets it. So threads
 * too short to be found in the kernel do not lose their system time, and noise is not mistaken for
 * it.
 *
 *	CPU clock 200 ms, 180 user samples of 1 ms: 20 ms are owed.
 *	Two threads of 1.5 ms, with 1 and 2 user samples: 0.5 ms and -0.5 ms are owed, 0 in all.
 *
 * The kernel's own split (getrusage) does not help: the kernel samples it at ticks, and a program
 * can run in step with the ticks. It also counts the delivery of our signals as system time.
 *
 * No function here reads a clock.
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
	uint64_t departures; /* times that the thread left its CPU */
};

struct fg_account {
	struct fg_times last;
	bool on;             /* sampling was on at the last update */
	uint32_t switches;   /* value of fg_g.switches at the last update */
	uint64_t sampled_ns; /* user samples since the last update */
	int64_t owed_ns;     /* CPU time that no sample covers */
};

/*
 * Returns the first period of the perf clock, for a random phase of the full period. The timer
 * repeats it until the handler has set the full period, and an interrupt with its signal takes 30
 * to 60 us on a virtual machine: with a shorter period the next interrupt is due as soon as the
 * last has ended, and the thread does not reach the handler for seconds. Samples of shorter first
 * periods are taken at the end of this one, so a thread that lasts that long is sampled as often as
 * it should be.
 */
uint64_t fg_account_first_period(uint64_t phase_ns, uint64_t period_ns);

/* Opens the account of a new thread, whose totals are `now`. */
void fg_account_open(struct fg_account *account, const struct fg_times *now);

static inline void fg_account_user(struct fg_account *account, uint64_t weight_ns)
{
	account->sampled_ns += weight_ns;
}

/*
 * Brings the account up to date. `split` gets the difference from the last update. If sampling was
 * turned on or off meanwhile, the time is not counted, because the sampled part of it is unknown;
 * call this as soon as fg_account_is_behind() returns true, to keep that time short. If sampling
 * was turned off and on again, the system time that getrusage counted is owed, but at most the
 * unsampled time.
 */
void fg_account_look(struct fg_account *account, const struct fg_times *now, bool on,
		     uint32_t switches, struct fg_times *split);

/* Has sampling been turned on or off since the last update? */
static inline bool fg_account_is_behind(const struct fg_account *account, bool on,
					uint32_t switches)
{
	return on != account->on || switches != account->switches;
}

/* Returns the system time owed to the next sample, or 0. */
static inline uint64_t fg_account_due(const struct fg_account *account)
{
	return account->owed_ns > 0 ? (uint64_t)account->owed_ns : 0;
}

/* Returns the CPU time that no sample covers if the CPU clock reads `cpu_ns`. */
static inline int64_t fg_account_ahead(const struct fg_account *account, uint64_t cpu_ns)
{
	return account->owed_ns + (int64_t)(cpu_ns - account->last.cpu_ns - account->sampled_ns);
}

/*
 * Returns the weight of the next of `left` hits: a separate clock found the thread in the kernel,
 * and each hit stands for `each_ns`. The two clocks drift apart by chance. Later hits make up for
 * the difference, in small portions so that no hit gets much more than another. If `is_last`, the
 * hits take the whole difference, up to four times `each_ns` each.
 */
uint64_t fg_account_portion(const struct fg_account *account, uint32_t left, uint64_t each_ns,
			    bool is_last);

static inline void fg_account_give(struct fg_account *account, uint64_t weight_ns)
{
	account->owed_ns -= (int64_t)weight_ns;
}

/*
 * Did page faults take most of the system time owed? They return to the instruction that faulted,
 * so the pc does not show them. Yes if there were faults, and either the kernel counted mostly
 * system time, or the faults, at 1 us each, make up more than half of the debt.
 */
bool fg_account_is_fault(const struct fg_times *split, uint64_t due_ns);

#endif
