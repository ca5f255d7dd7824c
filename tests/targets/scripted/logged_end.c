// SPDX-License-Identifier: Apache-2.0
/* Writes a line to the log as its last act. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	const char *log = getenv("SOAK_LOG");

	for (volatile long i = 0; i < 2000000; i++) {
	}
	if (!log)
		return 0;
	return write(open(log, O_WRONLY | O_APPEND), "x\n", 2) != 2;
}
