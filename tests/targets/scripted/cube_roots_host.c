// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
int main(void)
{
	double sum = 0;
	for (int i = 1; i <= 6; i++) {
		void *library = dlopen("./plugin.so", RTLD_NOW);
		double (*fill)(double) = (double (*)(double))dlsym(library, "fill");
		sum += fill(i);
		dlclose(library);
	}
	return sum < 0;
}
