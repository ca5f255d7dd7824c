/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences between two builds of a program apart from their code: compiler, flags, way of
 * linking, libraries. Computed from the facts that runner/facts/build_info.h records, so it also
 * works on stored runs.
 */
#ifndef FG_MODEL_BUILD_DIFFERENCE_H
#define FG_MODEL_BUILD_DIFFERENCE_H

#include "model/build_facts.h"

struct fg_build_difference {
	/*
	 * For people: "optimisation -O2 in the baseline, -O0 in the candidate", most serious first.
	 * NULL: no known difference. The caller frees it.
	 */
	char *text;
	/* differs in compiler, optimisation, linking, or the origin of a library */
	bool is_grave;
};

struct fg_build_difference fg_build_difference_of(const struct fg_build_facts *baseline,
						  const struct fg_build_facts *candidate);

#endif
