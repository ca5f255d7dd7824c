// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <stdio.h>
static double use(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	double (*function)(double) = (double (*)(double))dlsym(library, name);
	double sum = function(0) + function(0);
	printf("%p\n", (void *)function);
	dlclose(library);
	return sum;
}
int main(void)
{
	static const char *const words[2][2] = {{"./left.so", "left_one"},
						{"./right.so", "right_one"}};
	double sum = 0;
	for (int i = 0; i < 10; i++)
		sum += use(words[i % 2][0], words[i % 2][1]);
	return sum < 0;
}
