// SPDX-License-Identifier: Apache-2.0
/*
 * Calls of exp whose paths the program itself knows, from stacks that are easily mistaken for each
 * other.
 *
 * usage: call_sites walk SEED | stale | coroutines | stacks | steps [calls] | leave FILE
 *
 * The first four print "function;function COUNT" for each path.
 */
#include <alloca.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))
#define NOT_A_TAIL_CALL()  __asm__ volatile("" ::: "memory")

static volatile double sink;
static volatile double one = 1.0;

/* ---- ground truth ---- */

enum {
	PATHS_MAX = 1 << 14,
	DEPTH_MAX = 12,
};

static const char *stack[2 * DEPTH_MAX];
static int depth;
static struct {
	char names[160];
	long calls;
} paths[PATHS_MAX];
static int path_count;

static void note_call(void)
{
	char names[160] = "";
	int at = 0;

	for (int i = 0; i < depth; i++) {
		if (i > 0)
			strcat(names, ";");
		strcat(names, stack[i]);
	}
	while (at < path_count && strcmp(paths[at].names, names) != 0)
		at++;
	if (at == PATHS_MAX)
		abort();
	if (at == path_count)
		strcpy(paths[path_count++].names, names);
	paths[at].calls++;
}

static void print_paths(void)
{
	for (int i = 0; i < path_count; i++)
		printf("%s %ld\n", paths[i].names, paths[i].calls);
}

/* ---- walk: a tree of calls without order ---- */

static uint64_t random_state;
static jmp_buf back;
static int back_depth;

static unsigned draw(unsigned below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(random_state >> 33) % below;
}

static void go_on(void);

#define CALL_EXP() \
 do {              \
  note_call();     \
  sink = exp(one); \
 } while (0)

#define ENTER(name)      \
 do {                    \
  stack[depth++] = name; \
  CALL_EXP();            \
 } while (0)

#define LEAVE()      \
 do {                \
  depth--;           \
  NOT_A_TAIL_CALL(); \
 } while (0)

/* Two functions with frames of the same size; each has its own call site. */
FAR_FROM_OPTIMISED static void one_way(void)
{
	ENTER("one_way");
	go_on();
	CALL_EXP();
	LEAVE();
}

FAR_FROM_OPTIMISED static void other_way(void)
{
	ENTER("other_way");
	go_on();
	CALL_EXP();
	LEAVE();
}

/* One function with two call sites, so the frames have the same size. */
FAR_FROM_OPTIMISED static void both_ways(void)
{
	ENTER("both_ways");
	if (draw(2))
		go_on();
	else
		go_on();
	LEAVE();
}

FAR_FROM_OPTIMISED static void wide(void)
{
	volatile char *room = alloca(16 * (1 + draw(4)));

	room[0] = 1;
	ENTER("wide");
	go_on();
	LEAVE();
}

/* Uses the frame pointer's register for something else. */
FAR_FROM_OPTIMISED static void busy(void)
{
	ENTER("busy");
	for (unsigned i = 0; i < 1 + draw(2); i++) {
		__asm__ volatile("movl %0, %%ebp" : : "r"(i) : "rbp");
		CALL_EXP();
		go_on();
	}
	LEAVE();
}

FAR_FROM_OPTIMISED static void far_back(void)
{
	ENTER("far_back");
	if (draw(4) == 0)
		longjmp(back, 1);
	go_on();
	LEAVE();
}

FAR_FROM_OPTIMISED static void go_on(void)
{
	static void (*volatile const ways[])(void) = {one_way, other_way, both_ways,
						      wide,    busy,      far_back};
	const unsigned times = depth < DEPTH_MAX ? draw(3) : 0;

	stack[depth++] = "go_on";
	for (unsigned i = 0; i < times && depth < DEPTH_MAX; i++)
		ways[draw(6)]();
	LEAVE();
}

FAR_FROM_OPTIMISED static void walk(uint64_t seed)
{
	random_state = seed;
	for (volatile int i = 0; i < 1000; i = i + 1) {
		depth = 0;
		stack[depth++] = "walk";
		back_depth = depth;
		if (setjmp(back) == 0) {
			go_on();
			go_on();
		}
		depth = back_depth;
	}
	NOT_A_TAIL_CALL();
}

/* ---- stale: the return addresses of the previous stack are still in memory ---- */

FAR_FROM_OPTIMISED static void last(void)
{
	__asm__ volatile("xorl %%ebp, %%ebp" : : : "rbp");
	stack[depth++] = "last";
	CALL_EXP();
	LEAVE();
}

FAR_FROM_OPTIMISED static void middle(size_t size)
{
	volatile char *room = alloca(size);

	__asm__ volatile("" : : "r"(room) : "memory");
	stack[depth++] = "middle";
	last();
	CALL_EXP();
	LEAVE();
}

/*
 * The frames of both functions have the same size together with that of middle(), so last() has its
 * frame at the same place below both. The return address into narrow_one() stays in space that
 * wide_one() does not touch.
 */
FAR_FROM_OPTIMISED static void narrow_one(void)
{
	volatile char *room = alloca(64);

	__asm__ volatile("" : : "r"(room) : "memory");
	stack[depth++] = "narrow_one";
	middle(512);
	LEAVE();
}

FAR_FROM_OPTIMISED static void wide_one(void)
{
	volatile char *room = alloca(512);

	__asm__ volatile("" : : "r"(room) : "memory");
	stack[depth++] = "wide_one";
	middle(64);
	LEAVE();
}

FAR_FROM_OPTIMISED static void stale(void)
{
	static void (*volatile const turns[])(void) = {narrow_one, wide_one};

	stack[depth++] = "stale";
	for (volatile int i = 0; i < 100; i = i + 1)
		turns[i % 2]();
	LEAVE();
}

/* ---- steps: a handler that makes a call after every single instruction ---- */

static volatile sig_atomic_t steps;
static volatile double inner;

static void on_step(int number)
{
	(void)number;
	steps++;
}

FAR_FROM_OPTIMISED static void on_step_with_call(int number)
{
	(void)number;
	steps++;
	/* NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): that is the test */
	inner = exp(one);
	if (inner < 2.7 || inner > 2.8)
		abort();
}

#define STEP_FROM_HERE() \
 __asm__ volatile("pushfq\n\torq $256, (%%rsp)\n\tpopfq" : : : "cc", "memory")
#define STEP_NO_MORE() \
 __asm__ volatile("pushfq\n\tandq $-257, (%%rsp)\n\tpopfq" : : : "cc", "memory")

/* Prints, in one line, the number of instructions of several calls from one place. */
FAR_FROM_OPTIMISED static void count_steps(void (*handler)(int))
{
	(void)signal(SIGTRAP, handler);
	for (volatile int i = 0; i < 5; i = i + 1) {
		steps = 0;
		STEP_FROM_HERE();
		sink = exp(one);
		STEP_NO_MORE();
		printf("%d ", (int)steps);
		if (sink < 2.7 || sink > 2.8)
			abort();
	}
	puts("");
}

/* ---- coroutines: one after the other on the same stack ---- */

static ucontext_t outside;

FAR_FROM_OPTIMISED static void together(void)
{
	stack[depth++] = "together";
	CALL_EXP();
	LEAVE();
}

static void first_coroutine(void)
{
	stack[depth++] = "first_coroutine";
	together();
	LEAVE();
}

static void second_coroutine(void)
{
	stack[depth++] = "second_coroutine";
	together();
	LEAVE();
}

FAR_FROM_OPTIMISED static void coroutines(void)
{
	static void (*const turns[])(void) = {first_coroutine, second_coroutine};
	char room[1 << 16];

	for (volatile int i = 0; i < 50; i = i + 1) {
		ucontext_t inside;

		if (getcontext(&inside) != 0)
			abort();
		inside.uc_stack.ss_sp = room;
		inside.uc_stack.ss_size = sizeof(room);
		inside.uc_link = &outside;
		makecontext(&inside, turns[i % 2], 0);
		if (swapcontext(&outside, &inside) != 0)
			abort();
	}
	NOT_A_TAIL_CALL();
}

/* ---- leave: the process ends while its threads call ---- */

enum {
	THREADS = 4,
};

/* In a file, so that the counts can be read after the process has ended. */
static struct {
	_Atomic long done_before_the_end;
	struct {
		_Atomic long begun;
		_Atomic long done;
	} of[THREADS];
} * counts;

static void *call_on(void *number)
{
	const uintptr_t i = (uintptr_t)number;

	for (;;) {
		atomic_fetch_add(&counts->of[i].begun, 1);
		inner = exp(one);
		atomic_fetch_add(&counts->of[i].done, 1);
	}
	return NULL;
}

static void leave(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	pthread_t thread;
	long sum = 0;

	if (fd < 0 || ftruncate(fd, sizeof(*counts)) != 0)
		abort();
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		abort();
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, call_on, (void *)i) != 0)
			abort();
	for (int i = 0; i < THREADS; i++)
		while (atomic_load(&counts->of[i].done) < 1000)
			(void)usleep(100);
	for (int i = 0; i < THREADS; i++)
		sum += atomic_load(&counts->of[i].done);
	atomic_store(&counts->done_before_the_end, sum);
	exit(0);
}

/* ---- stacks: one thread uses a whole stack, the next only its lower half ---- */

static char *stack_low;
static size_t stack_size = (size_t)1 << 19;

/* Moves the stack pointer to the same place each time. */
FAR_FROM_OPTIMISED static void *call_at(void *unused)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15;
	volatile char *room = alloca(here - (uintptr_t)(stack_low + 65536));

	__asm__ volatile("" : : "r"(room) : "memory");
	stack[depth++] = "call_at";
	for (volatile int i = 0; i < 3; i = i + 1)
		last();
	LEAVE();
	return unused;
}

static void run_on_stack(size_t size)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstack(&attributes, stack_low, size) != 0 ||
	    pthread_create(&thread, &attributes, call_at, NULL) != 0)
		abort();
	(void)pthread_join(thread, NULL);
	(void)pthread_attr_destroy(&attributes);
}

static void stacks(void)
{
	stack_low =
		mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack_low == MAP_FAILED)
		abort();
	run_on_stack(stack_size);
	if (mprotect(stack_low + stack_size / 2, stack_size / 2, PROT_NONE) != 0)
		abort();
	run_on_stack(stack_size / 2);
}

/* ---- modes ---- */

static void *walk_in_thread(void *seed)
{
	walk((uintptr_t)seed);
	return NULL;
}

/* Walks in consecutive threads, at the same addresses. */
static void walk_in_threads(uintptr_t seed)
{
	for (uintptr_t i = 0; i < 3; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, walk_in_thread, (void *)(seed + i)) != 0)
			abort();
		(void)pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "walk") == 0 && argc > 2)
		walk_in_threads(strtoul(argv[2], NULL, 10));
	else if (strcmp(mode, "stale") == 0)
		stale();
	else if (strcmp(mode, "steps") == 0)
		count_steps(argc > 2 ? on_step_with_call : on_step);
	else if (strcmp(mode, "stacks") == 0)
		stacks();
	else if (strcmp(mode, "coroutines") == 0)
		coroutines();
	else if (strcmp(mode, "leave") == 0 && argc > 2)
		leave(argv[2]);
	else
		return 2;
	print_paths();
	return 0;
}
