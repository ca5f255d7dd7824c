// SPDX-License-Identifier: Apache-2.0
/*
 * Code and data in front of the program's own: all code moves by an odd distance, and all data by a
 * page.
 */
__attribute__((used)) static const char pad_page[4096] = "a page";
__attribute__((used)) static const char pad_constants[37] = "in front of all other constants";
__attribute__((used)) static char pad_data[203] = "in front of all other data";

__attribute__((used, noinline)) static int pad_code(int x)
{
	return x / 3 + pad_constants[x & 15] + pad_data[x & 31];
}

__attribute__((used, noinline)) static int pad_more(int x)
{
	return pad_code(x) * pad_code(x + 1) + 12345;
}
