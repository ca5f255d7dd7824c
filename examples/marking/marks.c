/* SPDX-License-Identifier: Apache-2.0 */
#include <fastgate/region.h>

void mark_region(const char *name)
{
	fg_region_begin(name);
}

void mark_region_end(void)
{
	fg_region_end();
}

void mark_unit(const char *kind, uint64_t number)
{
	fg_unit_begin(kind, number);
}

void mark_unit_end(void)
{
	fg_unit_end();
}

void mark_dump(void)
{
	fg_dump();
}
