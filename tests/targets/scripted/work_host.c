// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

int main(void)
{
	void *p = dlopen("./plugin.so", RTLD_NOW);
	void (*work)(void) = p ? (void (*)(void))dlsym(p, "work") : 0;

	if (!work)
		return 1;
	work();
	return 0;
}
