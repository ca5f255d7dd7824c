// SPDX-License-Identifier: Apache-2.0
/* Answers as a program of Catch2 does. */
#include <stdio.h>
#include <string.h>

/* `fastgate init` recognises Catch2 by the name of this option in the binary. */
const char *const takes = "benchmark-samples";

int main(int argc, char **argv)
{
	volatile unsigned i = 0;

	if (argc > 1 && !strcmp(argv[1], "--list-tags")) {
		puts("   1  [!benchmark]");
		return 0;
	}
	while (i < 20000000)
		i = i + 1;
	puts("<Catch2TestRun><TestCase name='sum'><BenchmarkResults name='sum'><mean value='1e6'/>"
	     "</BenchmarkResults></TestCase></Catch2TestRun>");
	return argc > 1 && !strcmp(argv[1], "[!benchmark]") && takes ? 0 : 1;
}
