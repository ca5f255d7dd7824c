// SPDX-License-Identifier: Apache-2.0
/* The keys of `measure`, at the top level and in a benchmark. */
#include "config/hooks.h"
#include "config/schema.h"

/* Words in the order of their enums. */
static const char *const schedules[] = {"auto", "duet", "abba", "stored", NULL};
static const char *const clocks[] = {"cpu", "wall", NULL};
static const char *const kernel_modes[] = {"auto", "off", NULL};
static const char *const pythons[] = {"auto", "off", NULL};
static const char *const meters[] = {"off", "auto", "valgrind", NULL};
static const char *const when_modes[] = {"auto", "always", "never", NULL};

#define IN_MEASURE(member) offsetof(struct fg_measuring, member)
static const struct fg_key pairs_keys[] = {
	{FG_KEY("min", UNSIGNED, IN_MEASURE(min_pairs),
		"minimum number of pairs before the first decision; `gate.alpha` may need more"),
	 .initial = "10", FG_BOUNDS(2, 100000), .unit = "pairs"},
	{FG_KEY("max", UNSIGNED, IN_MEASURE(max_pairs),
		"maximum number of pairs; a metric that is still undecided is inconclusive"),
	 .initial = "400", FG_BOUNDS(2, 100000), .unit = "pairs"},
	{.name = NULL},
};
static const struct fg_section pairs_section = {.keys = pairs_keys, .inherits = true};

static const struct fg_key sampler_keys[] = {
	{FG_KEY("enabled", BOOL, IN_MEASURE(sampler.enabled), "record call stacks while measuring"),
	 .initial = "true",
	 .more = "Without call stacks a benchmark is still judged, but no function is blamed."},
	{FG_KEY("rate", UNSIGNED, IN_MEASURE(sampler.rate_hz), "sampling rate"), .initial = "auto",
	 .word_of_zero = "auto", FG_BOUNDS(1, 20000), .unit = "samples per CPU second",
	 .more = "`auto` is the highest rate whose cost stays below `budget`: the warm-up "
		 "measures the cost of samples on this host, and how often threads switch. The cost "
		 "affects both sides alike; `unsampled_share` measures it."},
	{FG_KEY("budget", RATIO, IN_MEASURE(sampler.budget),
		"share of the CPU time that `rate: auto` may cost"),
	 .initial = "3%", FG_BOUNDS(0.0001, 0.5)},
	{FG_KEY("clock", WORD, IN_MEASURE(sampler.clock),
		"clock of the sampler: CPU time or elapsed time"),
	 .initial = "cpu", .words = clocks,
	 .more = "`wall` also shows where threads wait, but interrupts system calls."},
	{FG_KEY("kernel", WORD, IN_MEASURE(sampler.kernel),
		"name the kernel's functions, below the program's functions"),
	 .initial = "auto", .words = kernel_modes,
	 .more = "`auto` does so if the kernel may be sampled: as root, with CAP_PERFMON, or "
		 "with `kernel.perf_event_paranoid` below 2. Elsewhere, and with `off`, system "
		 "time is one row `[kernel]`, which `clock: cpu` samples at kernel ticks."},
	{FG_KEY("follow_children", BOOL, IN_MEASURE(sampler.follow_children),
		"also sample the programs that a benchmark starts"),
	 .initial = "true"},
	{FG_KEY("units", TEXT, IN_MEASURE(sampler.units),
		"sample only in these units of work, by number: FIRST-LAST"),
	 .more = "Units are marked with fg_unit_begin() or ITT frames. The example leaves out the "
		 "first events and everything before them.",
	 .example = "units: 100-1000"},
	{FG_KEY("delay", DURATION, IN_MEASURE(sampler.delay_ns),
		"take no samples for this long after each process starts"),
	 .initial = "0s", FG_BOUNDS(0, 86400)},
	{FG_KEY("paused", BOOL, IN_MEASURE(sampler.paused),
		"take no samples until the program asks for them (fg_resume, __itt_resume)"),
	 .initial = "false"},
	{FG_KEY("python", WORD, IN_MEASURE(sampler.python),
		"show the functions of Python programs in place of the interpreter's"),
	 .initial = "auto", .words = pythons,
	 .more = "This works for Python 3.11, 3.12 and 3.13. For other versions, and with `off`, "
		 "the interpreter's own functions are shown."},
	{FG_KEY("unsampled_share", RATIO, IN_MEASURE(sampler.unsampled_share),
		"extra runs of the candidate with and without the sampler, per pair"),
	 .initial = "10%", FG_BOUNDS(0, 1),
	 .more = "They measure the cost of sampling (`sampler_cost` in the JSON report)."},
	{.name = NULL},
};
static const struct fg_section sampler_section = {.keys = sampler_keys, .inherits = true};

static const struct fg_key measure_keys[] = {
	{FG_KEY("schedule", WORD, IN_MEASURE(schedule),
		"how executions of the two sides are arranged"),
	 .initial = "auto", .words = schedules,
	 .more = "`duet` runs both sides at once on the same CPU and compares CPU time: a "
		 "disturbance of the machine affects both sides alike. It fits programs with one "
		 "busy thread.\n"
		 "\n"
		 "`abba` runs one side at a time, in blocks of four whose "
		 "order is drawn at random: for "
		 "threads, input and output, and wall time.\n\n"
		 "`stored` runs the candidate alone and compares it with "
		 "runs in the store. It is "
		 "weaker, and the report says so.\n\n"
		 "`auto` tries the schedules that fit the program, and keeps the schedule that "
		 "decides sooner."},
	{FG_KEY("pairs", SECTION, 0, "number of pairs of executions"), .section = &pairs_section,
	 .more = "A pair is one execution of each side; in `abba`, two. fastgate stops as soon as the "
		 "question is decided.",
	 .example = "pairs: { min: 10, max: 200 }"},
	{FG_KEY("budget", DURATION, IN_MEASURE(budget_ns),
		"time that the pairs of one benchmark may take"),
	 .initial = "5m", FG_BOUNDS(0.001, 604800),
	 .more = "If at least five pairs fit into this time, but fewer than a "
		 "decision needs, the missing pairs are measured too; if "
		 "fewer than five fit, one pair is measured. A "
		 "slowdown may be measured again in other layouts, which "
		 "may double the time."},
	{FG_KEY("warmup", UNSIGNED, IN_MEASURE(warmup), "pairs that are run first and not judged"),
	 .initial = "1", FG_BOUNDS(0, 1000), .unit = "pairs"},
	{FG_KEY("pin", BOOL, IN_MEASURE(pin), "pin each execution to one CPU also under `abba`"),
	 .initial = "false",
	 .more = "Pinning reduces noise for programs with one thread, and is wrong for programs "
		 "with several threads. `duet` always uses one CPU."},
	{FG_KEY("until_sure", BOOL, IN_MEASURE(until_sure),
		"measure until decided, as far as the budget allows"),
	 .initial = "false",
	 .more = "If true, `measure.pairs.max` does not apply. A run that "
		 "ends before it is decided stays open: `fastgate run "
		 "--resume` adds evidence to it instead of "
		 "starting over."},
	{FG_KEY("layouts", WORD, IN_MEASURE(layouts), "measure with the code at other addresses"),
	 .initial = "auto", .words = when_modes,
	 .more = "The place that the linker happens to choose for code "
		 "makes it faster or slower. With `auto`, both sides are "
		 "laid out in 16 places if code differs, at different offsets "
		 "within a cache line and a page, and the pairs rotate "
		 "through these builds, so that only the change remains. "
		 "If 16 places would take more than a tenth of the expected "
		 "measuring time (2 s are allowed, but never more than a "
		 "tenth of `measure.budget`) or more than 256 MiB of disk per "
		 "side, there are 8 or 4. If even 4 would take too long, or if `gate.placement` is "
		 "`fail`, the links are made only if a time measured in the default layout would "
		 "fail by less than 40 %. `always` uses all 16 places, without a limit."},
	{FG_KEY("affected", WORD, IN_MEASURE(affected),
		"measure only the benchmarks that a change can affect"),
	 .initial = "auto", .words = when_modes,
	 .more = "A benchmark is left out if the candidate changes no "
		 "function that it executes, and "
		 "no data or file that it may read. `auto` does so with "
		 "`--affected` and `--quick`, "
		 "which the hooks use. One execution under valgrind for "
		 "each build finds the "
		 "functions."},
	{FG_KEY("exact", WORD, IN_MEASURE(exact),
		"count instructions and calls after the pairs, to tell "
		"more work from slower work"),
	 .initial = "off", .words = meters,
	 .more = "`auto` counts if the pairs found a regression and "
		 "valgrind is installed; `valgrind` always counts. Each side is "
		 "executed once, and once more if the sides differ. "
		 "Under valgrind an execution takes 30 to 60 times as "
		 "long; the first execution takes twice that, because it also looks "
		 "for the mechanism of a slowdown. If a program cannot "
		 "be counted, the report says so, and the verdict stays "
		 "the same."},
	{FG_KEY("also", TEXTS, IN_MEASURE(also),
		"events to count exactly, by call path, after the pairs: "
		"heap, allocations, frees, "
		"fd, io, throws, locks"),
	 .count_offset = offsetof(struct fg_measuring, also_count), .words = fg_countable,
	 .more = "`heap` counts allocations and held memory; `allocations` counts only allocations, "
		 "in less than half the time. The other words count blocks by the function that "
		 "frees them (`frees`), opened descriptors (`fd`), calls that read or write and "
		 "their bytes (`io`), C++ exceptions (`throws`), and waits for locks (`locks`). "
		 "Each side is executed once, "
		 "and once more if the sides differ. Counts are informational, unless a row of "
		 "`gate.metrics` gates one, such as `heap.allocations: { tolerated: 0.1% }`.",
	 .example = "also: [heap, fd, io]"},
	{FG_KEY("calls", TEXTS, IN_MEASURE(calls),
		"functions whose calls to count exactly, by call path, "
		"after the pairs"),
	 .count_offset = offsetof(struct fg_measuring, call_count),
	 .more = "Names are written as for `fastgate record --calls`: `*` "
		 "stands for any text, `@libm` names the object that "
		 "defines the function. Calls from one object into "
		 "another are counted. Each function is a measure; a row "
		 "of `gate.metrics` gates it, such as `calls.exp: { "
		 "tolerated: 0.1% }`.",
	 .example = "calls: [exp, \"log@libm\", \"Parser::*\"]"},
	{FG_KEY("domains", TEXTS, IN_MEASURE(domains),
		"functions whose calls to count and whose arguments to "
		"record"),
	 .count_offset = offsetof(struct fg_measuring, domain_count),
	 .more = "`libm` is the whole mathematical library; any other "
		 "function needs its "
		 "signature. The verdict notes new NaNs, infinities and "
		 "denormal arguments, and a range that has grown.",
	 .example = "domains: [libm, "
		    "\"my_kernel=double(double,int)@libfit\"]"},
	{FG_KEY("entries", BOOL, IN_MEASURE(entries),
		"also count calls within an object, by jumps at function "
		"entries"),
	 .initial = "false",
	 .more = "For `calls` and `domains`: while calls are counted, a jump is "
		 "written over the first instructions of each function "
		 "if that is proved to be "
		 "safe. A function that is refused on one side is "
		 "refused on both. See "
		 "`fastgate record --entries`."},
	{FG_KEY("exact_budget", DURATION, IN_MEASURE(exact_budget_ns),
		"time that counting may take for one benchmark, both "
		"sides together"),
	 .initial = "60s", FG_BOUNDS(0.001, 604800)},
	{FG_KEY("sampler", SECTION, 0, "recording of call stacks"), .section = &sampler_section,
	 .example = "sampler: { rate: 1000, clock: cpu, follow_children: "
		    "true }"},
	{.name = NULL},
};
const struct fg_section fg_config_measure = {
	.keys = measure_keys, .inherits = true, .finish = fg_finish_measure};
