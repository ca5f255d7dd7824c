// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	double sum = 0;
	for (int i = 0; i < 4; i++) {
		void *library = dlopen(i % 2 ? "./one.so" : "./two.so", RTLD_LAZY);
		double (*twice)(double) = (double (*)(double))dlsym(library, "twice");
		sum += twice(0);
		dlclose(library);
	}
	printf("%g\n", sum);
	return 0;
}
