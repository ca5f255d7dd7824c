/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile whose every figure is known, for tests of views, pictures, exports and imports: a
 * reconstruction program of two threads, 1 ms between samples, 100 samples.
 *
 *	                                  samples
 *	main                                    2
 *	├─ loop (reco.cpp:20)                   8    the inclusive figure of loop is 80
 *	│  ├─ fit(Track&) (fit.cpp:90)         30
 *	│  │  ├─ norm [inlined]                10
 *	│  │  └─ log [libm.so.6]                5
 *	│  └─ visit(Node*)                      7
 *	│     └─ walk(Node*)                    0
 *	│        └─ visit(Node*)               20    recursion: visit is inclusive 27, not 47
 *	└─ write_out [libio.so]                 3
 *	   └─ log [libm.so.6]                   5
 *	worker (thread 2)                       0
 *	└─ compress [libz.so.1]                10
 *
 * Units of work "event" 1 to 4 hold the samples below loop, 20 each; regions are "reco", "reco/fit"
 * and "output".
 */
#ifndef FG_TESTS_SUPPORT_KNOWN_PROFILE_H
#define FG_TESTS_SUPPORT_KNOWN_PROFILE_H

#include "profile/profile.h"

enum {
	KNOWN_PERIOD_NS = 1000000,
	KNOWN_SAMPLES = 100,
	KNOWN_BYTES = 1024, /* size of one allocation */
	KNOWN_ALLOCATIONS = 80,
};

void known_profile_init(struct fg_profile *profile);
/*
 * Adds a second measure, alloc_space in bytes: KNOWN_BYTES at each of the 80 samples in units of
 * work. The self figure of fit(Track&) is then 30 KiB, and the total of loop 80 KiB.
 */
void known_profile_add_bytes(struct fg_profile *profile);
/*
 * Adds allocation measures: one allocation of KNOWN_BYTES at each sample. Every second allocation
 * is held at the peak, and every fourth is held at the end.
 */
void known_profile_add_heap(struct fg_profile *profile);
/* Adds the memory held at two dumps. */
void known_profile_add_dumps(struct fg_profile *profile);
/*
 * Adds arguments of log on the call path of each sample: 0.25 and 0.5, and a NaN on the first path.
 */
void known_profile_add_domains(struct fg_profile *profile);
/* Adds calls of log on the call path of each sample: 15 that took 100 ns each, and 5 of 1 µs. */
void known_profile_add_durations(struct fg_profile *profile);
/*
 * Adds addresses within libreco.so: the samples of fit(Track&) are at 0x1200, those of norm, which
 * is inlined into it, at 0x1211. The instructions of fit are known, those of visit(Node*) are not.
 */
void known_profile_add_code(struct fg_profile *profile);
/* Makes a profile of one sample in one function. */
void known_profile_single(struct fg_profile *profile, const char *function, const char *library);

/* Adds a frame of this function, without an address, on top of a stack. Returns the new stack. */
uint32_t known_profile_push(struct fg_profile *profile, uint32_t parent_stack, const char *name,
			    const char *library);

#endif
