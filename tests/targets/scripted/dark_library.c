// SPDX-License-Identifier: Apache-2.0
/* This library has neither unwind tables nor frame pointers, so the native stack ends here. */
void dark(unsigned n)
{
	volatile unsigned a[64];
	for (unsigned i = 0; i < n; i++)
		a[i % 64] = i * i;
}
