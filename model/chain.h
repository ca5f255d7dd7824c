/* SPDX-License-Identifier: Apache-2.0 */
/* One run's measurement of the step between two commits: an edge of the graph of commits. */
#ifndef FG_MODEL_CHAIN_H
#define FG_MODEL_CHAIN_H

#include "base/base.h"

struct fg_chain_edge {
	const char *run;
	const char *from; /* commit of the baseline */
	const char *to;   /* commit of the candidate */
	const char *tag;  /* tag of `to`; NULL: none */
	int64_t series;   /* id in the store; 0: not stored yet */
	unsigned pairs;
	double change; /* log(candidate / baseline); 0 for identical builds */
	double error;  /* standard error of `change`; 0: exact */
	bool is_known; /* this step alone was judged a regression or an improvement */
};

#endif
