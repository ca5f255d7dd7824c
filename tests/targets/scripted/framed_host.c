// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
__attribute__((noinline)) static void innermost(void)
{
	for (volatile int i = 0; i < 2000000; i++) {
	}
	__asm__ volatile("");
}
void back(void);
void back(void)
{
	innermost();
	__asm__ volatile("");
}
int main(void)
{
	char name[] = "./libchain0.so";
	for (int i = 0; i < 80; i++) {
		name[10] = (char)('0' + i % 8);
		void *library = dlopen(name, RTLD_NOW);
		if (!library)
			return 1;
		((void (*)(void))dlsym(library, "chain"))();
		if (dlclose(library))
			return 2;
	}
	return 0;
}
