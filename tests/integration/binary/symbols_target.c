// SPDX-License-Identifier: Apache-2.0
/* A library whose lines and inlined functions are known to test_symbols.c by their marks. */
__attribute__((visibility("default"))) int target_outer(int n);
__attribute__((visibility("default"))) int target_plain(int n);

static volatile int sink;

static inline __attribute__((always_inline)) void target_inner(int n)
{
	sink = n; /* MARK inner */
}

static inline __attribute__((always_inline)) void target_middle(int n)
{
	target_inner(n + 1); /* MARK middle */
}

int target_outer(int n)
{
	target_middle(n); /* MARK outer */
	return n;
}

static __attribute__((noinline, used)) int target_hidden(int n)
{
	return n + sink; /* MARK hidden */
}

int target_plain(int n)
{
	return target_hidden(n) * 2;
}
