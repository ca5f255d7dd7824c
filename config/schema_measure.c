// SPDX-License-Identifier: Apache-2.0
/* The keys of `measure`, of the whole plan and of a benchmark. */
#include "config/hooks.h"
#include "config/schema.h"

/* Words in the order of their enums. */
static const char *const schedules[] = {"auto", "duet", "abba", "stored", NULL};
static const char *const clocks[] = {"cpu", "wall", NULL};
static const char *const kernel_modes[] = {"auto", "off", NULL};
static const char *const pythons[] = {"auto", "off", NULL};
static const char *const meters[] = {"off", "auto", "valgrind", NULL};
static const char *const when_modes[] = {"auto", "always", "never", NULL};

#define IN_MEASURE(member) .offset = offsetof(struct fg_measuring, member)
static const struct fg_key pairs_keys[] = {
	{.name = "min",
	 .kind = FG_KEY_UNSIGNED,
	 IN_MEASURE(min_pairs),
	 .initial = "10",
	 .minimum = 2,
	 .maximum = 100000,
	 .unit = "pairs",
	 .help = "pairs before the first decision"},
	{.name = "max",
	 .kind = FG_KEY_UNSIGNED,
	 IN_MEASURE(max_pairs),
	 .initial = "400",
	 .minimum = 2,
	 .maximum = 100000,
	 .unit = "pairs",
	 .help = "largest number of pairs; a metric that is undecided by then is inconclusive",
	 .more = "Most metrics are decided by 120 pairs."},
	{.name = NULL},
};
static const struct fg_section pairs_section = {.keys = pairs_keys, .inherits = true};

static const struct fg_key sampler_keys[] = {
	{.name = "enabled",
	 .kind = FG_KEY_BOOL,
	 IN_MEASURE(sampler.enabled),
	 .initial = "true",
	 .help = "record call stacks while measuring",
	 .more = "Without call stacks a benchmark is still judged, but no function is blamed."},
	{.name = "rate",
	 .kind = FG_KEY_UNSIGNED,
	 IN_MEASURE(sampler.rate_hz),
	 .initial = "auto",
	 .word_of_zero = "auto",
	 .minimum = 1,
	 .maximum = 20000,
	 .unit = "samples per CPU second",
	 .help = "how often a stack is recorded",
	 .more = "`auto` is the highest rate whose cost stays below `budget`: the "
		 "warm-up measures what samples cost here, and how often threads switch. The cost "
		 "favours no side: `unsampled_share` measures it."},
	{.name = "budget",
	 .kind = FG_KEY_RATIO,
	 IN_MEASURE(sampler.budget),
	 .initial = "3%",
	 .minimum = 0.0001,
	 .maximum = 0.5,
	 .help = "share of the CPU time that `rate: auto` may cost"},
	{.name = "clock",
	 .kind = FG_KEY_WORD,
	 IN_MEASURE(sampler.clock),
	 .initial = "cpu",
	 .words = clocks,
	 .help = "what drives the sampler: time on a CPU, or time that passes",
	 .more = "`wall` also shows where threads wait, and interrupts calls."},
	{.name = "kernel",
	 .kind = FG_KEY_WORD,
	 IN_MEASURE(sampler.kernel),
	 .initial = "auto",
	 .words = kernel_modes,
	 .help = "name the kernel's functions below those of the program",
	 .more = "`auto` does so if the kernel may be sampled: as root, with CAP_PERFMON, or with "
		 "`kernel.perf_event_paranoid` below 2. Elsewhere, and with `off`, system time is one "
		 "row `[kernel]`, and `clock: cpu` looks for it at kernel ticks."},
	{.name = "follow_children",
	 .kind = FG_KEY_BOOL,
	 IN_MEASURE(sampler.follow_children),
	 .initial = "true",
	 .help = "sample the programs that a benchmark starts, too"},
	{.name = "units",
	 .kind = FG_KEY_TEXT,
	 IN_MEASURE(sampler.units),
	 .help = "sample only in these units of work, by number: FIRST-LAST",
	 .more = "Units are marked with fg_unit_begin() or ITT frames. The example leaves out the "
		 "first events and everything before them.",
	 .example = "units: 100-1000"},
	{.name = "delay",
	 .kind = FG_KEY_DURATION,
	 IN_MEASURE(sampler.delay_ns),
	 .initial = "0s",
	 .minimum = 0,
	 .maximum = 86400,
	 .help = "take no sample in this time from the start of each process"},
	{.name = "paused",
	 .kind = FG_KEY_BOOL,
	 IN_MEASURE(sampler.paused),
	 .initial = "false",
	 .help = "take no sample until the program asks for it (fg_resume, __itt_resume)"},
	{.name = "python",
	 .kind = FG_KEY_WORD,
	 IN_MEASURE(sampler.python),
	 .initial = "auto",
	 .words = pythons,
	 .help = "show the functions of Python programs in place of the interpreter's",
	 .more = "For Python 3.11, 3.12 and 3.13. For other versions, and with `off`, the "
		 "interpreter's own functions are shown."},
	{.name = "unsampled_share",
	 .kind = FG_KEY_RATIO,
	 IN_MEASURE(sampler.unsampled_share),
	 .initial = "10%",
	 .minimum = 0,
	 .maximum = 1,
	 .help = "share of the pairs that run without the sampler",
	 .more = "These pairs measure what sampling costs; every report shows it."},
	{.name = NULL},
};
static const struct fg_section sampler_section = {.keys = sampler_keys, .inherits = true};

static const struct fg_key measure_keys[] = {
	{.name = "schedule",
	 .kind = FG_KEY_WORD,
	 IN_MEASURE(schedule),
	 .initial = "auto",
	 .words = schedules,
	 .help = "how the two sides take turns",
	 .more = "`duet` runs both at once on the same CPU and compares CPU time: what disturbs "
		 "the machine disturbs both alike. It fits programs with one busy thread.\n\n"
		 "`abba` runs one at a time, in blocks of four whose order is drawn at random: for "
		 "threads, input and output, and wall time.\n\n"
		 "`stored` runs the candidate alone and compares it with runs in the store. It is "
		 "weaker, and the report says so.\n\n"
		 "`auto` tries those that fit the program and keeps the one that decides sooner here."},
	{.name = "pairs",
	 .kind = FG_KEY_SECTION,
	 .section = &pairs_section,
	 .help = "how many pairs of executions are measured",
	 .more = "A pair is one execution of each side. fastgate stops as soon as the question is "
		 "decided.",
	 .example = "pairs: { min: 10, max: 200 }"},
	{.name = "budget",
	 .kind = FG_KEY_DURATION,
	 IN_MEASURE(budget_ns),
	 .initial = "5m",
	 .minimum = 0.001,
	 .maximum = 604800,
	 .help = "time that the pairs of one benchmark may take",
	 .more = "If it ends just before enough pairs could decide, those are measured too; if it is "
		 "too short for any statement, one pair is measured. A slowdown that is not beyond "
		 "doubt yet is measured again, which may take as long once more."},
	{.name = "warmup",
	 .kind = FG_KEY_UNSIGNED,
	 IN_MEASURE(warmup),
	 .initial = "1",
	 .minimum = 0,
	 .maximum = 1000,
	 .unit = "blocks of pairs",
	 .help = "pairs that are run and discarded first"},
	{.name = "pin",
	 .kind = FG_KEY_BOOL,
	 IN_MEASURE(pin),
	 .initial = "false",
	 .help = "keep each execution on one CPU under `abba` too",
	 .more = "Less noise for programs with one thread; wrong for programs with several. `duet` "
		 "always does it."},
	{.name = "until_sure",
	 .kind = FG_KEY_BOOL,
	 IN_MEASURE(until_sure),
	 .initial = "false",
	 .help = "measure until decided, as far as the budget allows",
	 .more = "Then `measure.pairs.max` does not apply. A run that "
		 "ends before it is decided stays open: `fastgate run --resume` adds evidence to it instead of "
		 "starting over."},
	{.name = "layouts",
	 .kind = FG_KEY_WORD,
	 IN_MEASURE(layouts),
	 .initial = "auto",
	 .words = when_modes,
	 .help = "measure with the code at other addresses",
	 .more = "The place that the linker happens to choose for code makes it faster or slower. "
		 "With `auto`, both sides are linked 16 times if code differs, with all code in another "
		 "place of the cache line and of the page, and the pairs take turns: what is left is "
		 "the change. If these links would take more than a tenth of the measurement (2 s are "
		 "always accepted), there are 8 or 4; if 4 take longer, they are made only when a time, "
		 "measured as linked, would fail by less than 40 %. `always` makes them however long they "
		 "take."},
	{.name = "affected",
	 .kind = FG_KEY_WORD,
	 IN_MEASURE(affected),
	 .initial = "auto",
	 .words = when_modes,
	 .help = "measure only what a change can touch",
	 .more = "A benchmark is left out if the candidate changes no function that it executes, and "
		 "no data or file that it may read. `auto` does so with `--affected` and `--quick`, "
		 "which the hooks use. One execution under valgrind for each build finds the "
		 "functions."},
	{.name = "exact",
	 .kind = FG_KEY_WORD,
	 IN_MEASURE(exact),
	 .initial = "off",
	 .words = meters,
	 .help = "count instructions and calls after the pairs, to tell more work from slower work",
	 .more = "`auto` counts if the pairs found a regression and valgrind is installed, `valgrind` "
		 "always. One execution a side, a second one if the two sides differ. Under valgrind it "
		 "takes 30 to 60 times as long, the first one twice that, to find the mechanism of a "
		 "slowdown. A program that cannot be counted costs a line of the "
		 "report, never a verdict."},
	{.name = "also",
	 .kind = FG_KEY_TEXTS,
	 IN_MEASURE(also),
	 .count_offset = offsetof(struct fg_measuring, also_count),
	 .words = fg_countable,
	 .help = "events to count exactly, by call path, after the pairs: heap, allocations, frees, "
		 "fd, io, throws, locks",
	 .more = "`heap` counts allocations and what is held, `allocations` only the former in less "
		 "than half the time, `frees` blocks by the function that frees them, `fd` descriptors "
		 "that are opened, `io` calls that read or write and their bytes, `throws` C++ "
		 "exceptions, `locks` waits for locks. One execution a side, a second one if the two "
		 "sides differ. The counts are shown; a row of `gate.metrics` gates one, such as "
		 "`heap.allocations: { tolerated: 0.1% }`.",
	 .example = "also: [heap, fd, io]"},
	{.name = "calls",
	 .kind = FG_KEY_TEXTS,
	 IN_MEASURE(calls),
	 .count_offset = offsetof(struct fg_measuring, call_count),
	 .help = "functions whose calls to count exactly, by call path, after the pairs",
	 .more = "Names are those of `fastgate record --calls`: `*` stands for any text, `@libm` names "
		 "the object that defines the function. Calls from one object into another count. "
		 "Each function is a measure; a row of `gate.metrics` gates it, such as "
		 "`calls.exp: { tolerated: 0.1% }`.",
	 .example = "calls: [exp, \"log@libm\", \"Parser::*\"]"},
	{.name = "domains",
	 .kind = FG_KEY_TEXTS,
	 IN_MEASURE(domains),
	 .count_offset = offsetof(struct fg_measuring, domain_count),
	 .help = "functions whose calls to count and whose arguments to record",
	 .more = "`libm` is the whole mathematical library; any other function needs its "
		 "signature. New NaNs, infinities and denormal arguments, and a range that has "
		 "grown, are notes of the verdict.",
	 .example = "domains: [libm, \"my_kernel=double(double,int)@libfit\"]"},
	{.name = "entries",
	 .kind = FG_KEY_BOOL,
	 IN_MEASURE(entries),
	 .initial = "false",
	 .help = "also count calls within an object, by jumps at the entries of functions",
	 .more = "For `calls` and `domains`: while these are counted, and only then, a jump is "
		 "written over the first instructions of each function if that is proved to be "
		 "safe. A function that is refused on one side is refused on both. See "
		 "`fastgate record --entries`."},
	{.name = "exact_budget",
	 .kind = FG_KEY_DURATION,
	 IN_MEASURE(exact_budget_ns),
	 .initial = "60s",
	 .minimum = 0.001,
	 .maximum = 604800,
	 .help = "time that counting may take for one benchmark, both sides together"},
	{.name = "sampler",
	 .kind = FG_KEY_SECTION,
	 .section = &sampler_section,
	 .help = "recording of call stacks",
	 .example = "sampler: { rate: 1000, clock: cpu, follow_children: true }"},
	{.name = NULL},
};
const struct fg_section fg_config_measure = {
	.keys = measure_keys, .inherits = true, .finish = fg_finish_measure};
