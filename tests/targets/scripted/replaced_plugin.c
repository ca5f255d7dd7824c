// SPDX-License-Identifier: Apache-2.0
/* Loads its plugin and works in it; then a pipe takes the place of the plugin's file. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>

int main(void)
{
	const int placed = rename("plugin.kept", "plugin.so");
	void *plugin = placed == 0 ? dlopen("./plugin.so", RTLD_NOW) : NULL;
	int (*work)(void) = (int (*)(void))dlsym(plugin, "work");

	return !work() || rename("plugin.so", "plugin.kept") != 0 || mkfifo("plugin.so", 0600) != 0;
}
