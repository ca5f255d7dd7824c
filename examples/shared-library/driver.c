// SPDX-License-Identifier: Apache-2.0
/* driver ROUNDS FITS: matches made-up paths against patterns; exits with 1 unless FITS match. */
#include "glob.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const char *const patterns[] = {"*.c", "src/*/test_*.h", "*lib*core*.?", "build/*"};
	const long rounds = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	unsigned long fits = 0;
	char path[128];

	for (long i = 0; i < rounds; i++) {
		snprintf(path, sizeof(path), "src/lib%ld/module_%ld/core_%ld.%c", i % 7, i % 89, i,
			 "chm"[i % 3]);
		for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++)
			fits += (unsigned long)glob_match(patterns[p], path);
	}
	if (rounds > 0 && fits == strtoul(argv[2], NULL, 10))
		return 0;
	fprintf(stderr, "%lu of the paths fit\n", fits);
	return 1;
}
