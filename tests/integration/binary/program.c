// SPDX-License-Identifier: Apache-2.0
/*
 * A program with code and data of every kind that contains addresses, built several times, each
 * time with one change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LIMIT
# define LIMIT 100
#endif
#ifndef GREETING
# define GREETING "a text of its own"
#endif
#ifndef THIRD
# define THIRD 30
#endif
#ifndef SCALE
# define SCALE 1.25
#endif

#ifndef SECOND
# define SECOND "second"
#endif

#ifdef UNUSED
__attribute__((noinline, used)) static long nobody_calls_this(long x)
{
	return x * x + 7;
}
#endif

static const int table[] = {10, 20, THIRD, 40, 50};
static const char *const names[] = {"first", SECOND, "third"};
static int counter;

__attribute__((noinline)) static int by_table(int i)
{
	return table[i % 5];
}

__attribute__((noinline)) static const char *by_name(int i)
{
	return names[i % 3];
}

__attribute__((noinline)) static double scaled(double x)
{
	return x * SCALE + 0.5;
}

__attribute__((noinline)) static int by_switch(int i, const char *text)
{
	switch (i & 7) {
	case 0:
		return (int)strlen(text);
	case 1:
		return puts(text);
	case 2:
		return (int)strtol(text, NULL, 10);
	case 3:
		return counter++;
	case 4:
		return by_table(i);
	case 5:
		return text[0];
	case 6:
#ifdef OTHER_CASE
		return 66;
#else
		return 65;
#endif
	default:
		return -1;
	}
}

#ifdef __clang__
/* gcc splits off a cold part on its own. */
__asm__(".text\n"
	".type by_switch.cold, @function\n"
	"by_switch.cold:\n"
	"ud2\n"
	".size by_switch.cold, . - by_switch.cold\n");
#endif

__attribute__((noinline)) static int limited(int i)
{
	return i > LIMIT ? LIMIT : i;
}

/* On arm64, a function in a section that the linker can put too far away for a direct call. */
#ifdef __aarch64__
__attribute__((section(".apart")))
#endif
__attribute__((noinline)) static int
outer(int i)
{
	return limited(i) + 1;
}

/* Data without symbols: a list with only a head, and two words that point to each other. */
__asm__(".data\n"
	".p2align 3\n"
	".Lhead: .quad .Lhead, .Lhead\n"
	".Lone: .quad .Lother\n"
	".Lother: .quad .Lone\n"
	".text\n");

__attribute__((noinline)) static int is_empty(void)
{
	const char *head = NULL;
	const char *one = NULL;

#if defined(__aarch64__)
	__asm__("adrp %0, .Lhead\n\tadd %0, %0, :lo12:.Lhead\n\t"
		"adrp %1, .Lone\n\tadd %1, %1, :lo12:.Lone"
		: "=&r"(head), "=&r"(one));
#else
	__asm__("lea .Lhead(%%rip), %0\n\tlea .Lone(%%rip), %1" : "=r"(head), "=r"(one));
#endif
	return head == *(const char *const *)head && one != *(const char *const *)one;
}

static void say_goodbye(void)
{
	puts("goodbye");
}

int main(int argc, char **argv)
{
	int sum = is_empty();

	(void)argv;
	/*
	 * atexit() is in libc_nonshared.a: it takes the address of a variable that holds its own
	 * address.
	 */
	if (atexit(say_goodbye) != 0)
		return 1;
	for (int i = 0; i < argc * 100; i++)
		sum += by_switch(i, by_name(i)) + outer(i) + (int)scaled(i);
	puts(GREETING);
	return sum == 42;
}
