// SPDX-License-Identifier: Apache-2.0
/*
 * Computes for a third of a second, or half as long if fastgate has a second child besides the
 * launcher that started this program: like a program that stops by the clock and shares its CPU.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int parent_of(int pid)
{
	char path[64];
	int parent = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	return parent;
}

static int count_children(int pid)
{
	char path[64];
	int count = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	while (file && fscanf(file, "%*d%*c") != EOF)
		count++;
	return count;
}

int main(void)
{
	const int parts = count_children(parent_of(getppid())) > 1 ? 6 : 3;

	while (clock() < CLOCKS_PER_SEC / parts) {
	}
	return 0;
}
