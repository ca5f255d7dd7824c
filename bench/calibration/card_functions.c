// SPDX-License-Identifier: Apache-2.0
/* The rows about functions, from the counts that bench_calibration_functions left. */
#include "bench/calibration/card.h"

#include <math.h>

enum count {
	DECISIONS,
	ANY_FLAG,
	RIGHT_FLAG,
	FIRST,
	PATH_FIRST,
	MOVED,
	TESTED,
	PAIRS,
	COUNTS,
};

struct function_question {
	const char *name;
	int variant;
	enum count counted;
	bool at_least;
	double goal;
};

static const struct function_question questions[] = {
	{"functions: any false flag",   0, ANY_FLAG,   false, 0.05},
	{"function +10 %: flagged",     1, RIGHT_FLAG, true,  0.90},
	{"function +10 %: first",       1, FIRST,      true,  0.95},
	{"right path of two: first",    2, PATH_FIRST, true,  0.90},
	{"extracted: any flag",         3, ANY_FLAG,   false, 0.05},
	{"extracted: said to be moved", 3, MOVED,      true,  0.95},
	{"renamed: any flag",           4, ANY_FLAG,   false, 0.05},
	{"renamed: said to be moved",   4, MOVED,      true,  0.95},
};

static bool read_counts(const char *folder, const char *condition, int variant,
			size_t counts[COUNTS], double *load)
{
	char *path = fg_xasprintf("%s/functions.%s.%d.txt", folder, condition, variant);
	FILE *file = fopen(path, "r");
	char line[256] = "";
	char *at = line;
	bool found = file && fgets(line, sizeof(line), file);

	for (int i = 0; i < COUNTS && found; i++)
		counts[i] = (size_t)strtoul(at, &at, 10);
	*load = found ? strtod(at, NULL) : (double)NAN;
	if (file)
		(void)fclose(file);
	free(path);
	return found;
}

void card_add_functions(const char *folder, const char *condition, struct card *card)
{
	for (size_t q = 0; q < FG_ARRAY_SIZE(questions); q++) {
		struct card_row row = {.name = questions[q].name,
				       .condition = condition,
				       .at_least = questions[q].at_least,
				       .goal = questions[q].goal,
				       .median_pairs = (double)NAN};
		size_t counts[COUNTS] = {0};

		if (read_counts(folder, condition, questions[q].variant, counts, &row.load)) {
			row.hits = counts[questions[q].counted];
			row.trials = counts[DECISIONS];
			row.median_pairs = (double)counts[PAIRS];
			row.tested = counts[TESTED];
		}
		(void)snprintf(row.setting_text, sizeof(row.setting_text),
			       "%zu functions tested, 1 kHz, duet", row.tested);
		card_add(card, &row);
	}
}
