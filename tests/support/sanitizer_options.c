// SPDX-License-Identifier: Apache-2.0
/*
 * Default options of sanitized programs, in any environment; ASAN_OPTIONS and UBSAN_OPTIONS
 * override them.
 */

/* Skips the C library's thread-local memory: leak detection of clang 14 guesses its size. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=1:abort_on_error=1:intercept_tls_get_addr=0";
}

const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1";
}
