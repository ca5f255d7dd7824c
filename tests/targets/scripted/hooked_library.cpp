// SPDX-License-Identifier: Apache-2.0
extern "C" int NAME(int n);
static __attribute__((noinline)) int hidden(int n)
{
	return n + 1;
}
extern "C" int NAME(int n)
{
	return hidden(n) + hidden(n);
}
