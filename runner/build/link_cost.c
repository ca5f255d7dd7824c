// SPDX-License-Identifier: Apache-2.0
#include "runner/build/link_cost.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	LOOKS_EXPECTED = 2, /* a run is expected to take this many times `min_pairs` */
	/* the allowance is at least this long, unless the budget is very short */
	ALWAYS_CHEAP_S = 2,
	/* older costs are ignored: the machine may have been busy, or the linker replaced */
	KEPT_S = 24 * 60 * 60,
	TEXT_SIZE = 32,
};

static const double share_max = 0.1;

int64_t fg_links_allowance_ns(const struct fg_measuring *measure, int64_t pair_ns)
{
	const double pairs =
		fmin((double)LOOKS_EXPECTED * measure->min_pairs, (double)measure->max_pairs);
	const double least = ALWAYS_CHEAP_S * (double)FG_NS_PER_S;
	const double allowance = fmax(share_max * pairs * (double)pair_ns, least);

	if (measure->budget_ns <= 0)
		return (int64_t)allowance;
	return (int64_t)fmin(allowance, share_max * (double)measure->budget_ns);
}

int64_t fg_link_cost_read(const char *path)
{
	struct stat status;
	int64_t cost_ns = 0;
	char *text = NULL;

	if (stat(path, &status) != 0 ||
	    fg_clock_wall_ns() / FG_NS_PER_S - status.st_mtim.tv_sec > KEPT_S ||
	    fg_fs_read(path, TEXT_SIZE, &text, NULL, NULL) != FG_OK)
		return 0;
	if (fg_parse_int64(text, &cost_ns, NULL) != FG_OK || cost_ns < 0)
		cost_ns = 0;
	free(text);
	return cost_ns;
}

void fg_link_cost_write(const char *path, int64_t cost_ns)
{
	char *folder = fg_fs_parent(path);
	struct fg_error err = {0};
	char text[TEXT_SIZE];
	const int length = snprintf(text, sizeof(text), "%" PRId64, cost_ns);
	int status = fg_fs_make_folders(folder, 0755, &err);

	if (status == FG_OK)
		status = fg_fs_write_atomic(path, text, (size_t)length, 0644, &err);
	if (status != FG_OK)
		fg_log(FG_LOG_RUNNER, 1, "%s", err.message);
	free(folder);
}
