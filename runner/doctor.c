// SPDX-License-Identifier: Apache-2.0
#include "runner/doctor.h"

#include "base/fs.h"
#include "base/text.h"
#include "runner/execute/preload.h"
#include "runner/facts/binary.h"
#include "runner/facts/host.h"
#include "runner/target.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LINE_SIZE = 256,
	CPUS_MIN = 2,
	CPUS_MAX = 4096
};

static const double load_per_cpu_max = 0.25;
static const double steal_max = 0.01;
static const double memory_free_min = 0.1;

const char *fg_severity_name(enum fg_severity severity)
{
	static const char *const names[] = {
		[FG_SEVERITY_OK] = "ok",
		[FG_SEVERITY_NOTE] = "note",
		[FG_SEVERITY_WARNING] = "warning",
		[FG_SEVERITY_PROBLEM] = "problem",
	};

	return names[severity];
}

enum fg_severity fg_diagnosis_worst(const struct fg_diagnosis *diagnosis)
{
	enum fg_severity worst = FG_SEVERITY_OK;

	for (size_t i = 0; i < diagnosis->count; i++) {
		if (diagnosis->items[i].severity > worst)
			worst = diagnosis->items[i].severity;
	}
	return worst;
}

void fg_diagnosis_release(struct fg_diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		free(diagnosis->items[i].evidence);
	}
	free(diagnosis->items);
	*diagnosis = (struct fg_diagnosis){0};
}

/* ---- topics ---- */

enum topic {
	AFFINITY,
	COLLECTOR,
	CPUS,
	CPU_QUOTA,
	DEBUG_BUILD,
	DEBUG_INFO,
	GIT,
	GOVERNOR,
	HOSTED_RUNNER,
	LOAD,
	MEMORY,
	MISSING,
	NO_ASLR_HERE,
	NUMA_BALANCING,
	PERF,
	SAMPLABLE,
	STEAL,
	TURBO,
	VIRTUALIZATION,
	WRAPPER,
};

/*
 * `severity`, `meaning` and `remedy` apply only if something is wrong. Topics about a benchmark
 * list no subject, because their subject is the benchmark's name.
 */
#define TOPIC(severity_, id_, subject_, meaning_, remedy_)                                       \
 .severity = FG_SEVERITY_##severity_, .id = (id_), .subject = (subject_), .meaning = (meaning_), \
 .remedy = (remedy_)

static const struct fg_finding topics[] = {
	[AFFINITY] = {TOPIC(WARNING, "affinity", "usable CPUs",
			    "the benchmark and fastgate itself share the only CPU that is "
			    "allowed",
			    "taskset --cpu-list 0-N fastgate ...")},
	[COLLECTOR] = {TOPIC(PROBLEM, "collector", "sampler library",
			     "times are measured, but functions cannot be named",
			     "install all of fastgate, or set FASTGATE_COLLECTOR to the path of "
			     "the library")},
	[CPUS] = {TOPIC(WARNING, "cpus", "CPUs",
			"benchmark, fastgate and the rest of the system share one CPU",
			"use a machine with two CPUs or more")},
	[CPU_QUOTA] = {TOPIC(WARNING, "cpu_quota", "CPU quota",
			     "the control group stops its programs for the rest of each period "
			     "when the quota is used up",
			     "run the container without --cpus, or pin it with --cpuset-cpus "
			     "instead")},
	[DEBUG_BUILD] = {TOPIC(
		WARNING, "debug_build", NULL,
		"the program was compiled without optimisation: its speed says little about a "
		"release build",
		"cmake -DCMAKE_BUILD_TYPE=RelWithDebInfo, or CFLAGS='-O2 -g'")},
	[DEBUG_INFO] = {TOPIC(
		WARNING, "debug_info", NULL,
		"profiles show functions, if the program has symbols, but neither files and "
		"lines nor inlined calls",
		"compile with -g, keep optimisation on, and do not strip")},
	[GIT] = {TOPIC(
		WARNING, "git", "git",
		"run --against needs git, and without git no run is recorded with its commit",
		"sudo apt-get install git")},
	[GOVERNOR] = {TOPIC(WARNING, "governor", "frequency governor",
			    "the clock follows the load, so the first repetitions run slower "
			    "than the later ones",
			    "sudo cpupower frequency-set --governor performance")},
	[HOSTED_RUNNER] = {TOPIC(
		NOTE, "hosted_runner", "hosted runner",
		"each job runs on a different virtual machine, sometimes with a different "
		"processor, and shares its CPUs with other machines: times within one job can be "
		"compared, but times of different jobs cannot",
		"let each job measure both sides (--against, not `schedule: "
		"stored`), gate CPU time rather than wall time, and set "
		"`measure.exact: valgrind` for changes below 1 %")},
	[LOAD] = {TOPIC(WARNING, "load", "load",
			"other programs use CPU time and evict caches; the duet schedule copes "
			"with that best",
			"ps -eo pcpu,pid,args --sort=-pcpu | head")},
	[MEMORY] = {TOPIC(WARNING, "memory", "free memory",
			  "a machine short of memory drops caches and swaps while it measures",
			  "ps -eo rss,pid,args --sort=-rss | head")},
	[MISSING] = {TOPIC(PROBLEM, "missing", NULL,
			   "the program is missing, or cannot be executed",
			   "build it first, or correct `command` in fastgate.yml")},
	[NO_ASLR_HERE] = {TOPIC(
		WARNING, "aslr_personality", "address space randomisation",
		"this shell was started without randomisation (setarch -R, or a debugger): each "
		"repetition gets the same layout",
		"start fastgate from an ordinary shell")},
	[NUMA_BALANCING] = {TOPIC(NOTE, "numa_balancing", "NUMA balancing",
				  "the kernel moves pages between memory nodes while programs "
				  "run",
				  "sudo sysctl kernel.numa_balancing=0")},
	[PERF] = {TOPIC(WARNING, "perf", "perf task clock",
			"the sampler's best clock is refused here (a container's seccomp "
			"rules often do that); it falls back to coarser timers",
			"docker run --security-opt seccomp=unconfined, or --cap-add PERFMON")},
	[SAMPLABLE] = {TOPIC(
		WARNING, "samplable", NULL,
		"the program can be timed but not sampled, so no function can be blamed",
		"link the program dynamically and without sanitizers, and remove its "
		"set-user-id bit")},
	[STEAL] = {TOPIC(
		WARNING, "steal", "stolen time",
		"the hypervisor gives this machine's CPUs to other machines; repetitions that "
		"lose more than half of the CPU's time are set aside",
		"use a machine with dedicated CPUs, or `schedule: duet`")},
	[TURBO] = {TOPIC(NOTE, "turbo", "turbo",
			 "the clock depends on temperature and on the load of the other cores",
			 "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, or "
			 "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost")},
	[VIRTUALIZATION] = {TOPIC(NOTE, "virtualization", "virtualization",
				  "neighbours on the same hardware cannot be seen from here; "
				  "a comparison within one session cancels them out",
				  NULL)},
	[WRAPPER] = {TOPIC(
		NOTE, "wrapper", NULL,
		"fastgate cannot tell whether the binaries behind the command changed, so the "
		"benchmark is measured even if none did",
		"name the program itself in `command`; preparations go into `setup` or "
		"`prepare`")},
};

/* Numeric kernel settings. */
static const struct limit {
	struct fg_finding words; /* reported if the number is out of range */
	const char *path;
	double least, most;
	const char *before, *after; /* text around the number in the evidence */
} limits[] = {
	{.words = {.id = "smt",
		   .subject = "SMT siblings",
		   .severity = FG_SEVERITY_NOTE,
		   .meaning = "two hardware threads share one core: a program on the sibling "
			      "slows the benchmark",
		   .remedy = "echo off | sudo tee /sys/devices/system/cpu/smt/control"},
	 .path = "/sys/devices/system/cpu/smt/active",
	 .before = "smt/active = "},
	{.words = {.id = "thermal",
		   .subject = "thermal throttling",
		   .severity = FG_SEVERITY_WARNING,
		   .meaning = "the processor has slowed itself down because it was too hot",
		   .remedy = "improve the cooling, or turn turbo off"},
	 .path = "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count",
	 .before = "throttling events since boot: "},
	{.words = {.id = "aslr",
		   .subject = "address space randomisation",
		   .severity = FG_SEVERITY_WARNING,
		   .meaning = "each repetition gets the same memory layout, so a lucky or unlucky "
			      "layout looks like a real difference",
		   .remedy = "sudo sysctl kernel.randomize_va_space=2"},
	 .path = "/proc/sys/kernel/randomize_va_space",
	 .least = 2,
	 .most = 2,
	 .before = "kernel.randomize_va_space = "},
	{.words = {.id = "perf_event_paranoid",
		   .subject = "perf permission",
		   .severity = FG_SEVERITY_WARNING,
		   .meaning = "perf events are refused: the sampler falls back to coarser timers",
		   .remedy = "sudo sysctl kernel.perf_event_paranoid=2"},
	 .path = "/proc/sys/kernel/perf_event_paranoid",
	 .least = -1,
	 .most = 2,
	 .before = "kernel.perf_event_paranoid = "},
	{.words = {.id = "perf_throttled",
		   .subject = "perf sample rate",
		   .severity = FG_SEVERITY_WARNING,
		   .meaning = "the kernel has throttled perf because sampling interrupts took too "
			      "long",
		   .remedy = "sudo sysctl kernel.perf_cpu_time_max_percent=25 "
			     "kernel.perf_event_max_sample_rate=100000"},
	 .path = "/proc/sys/kernel/perf_event_max_sample_rate",
	 .least = 4000,
	 .most = 1e9,
	 .before = "at most ",
	 .after = " samples a second"},
	/*
	 * Yama: 1 allows tracing of descendants only, 2 requires CAP_SYS_PTRACE, 3 forbids tracing.
	 */
	{.words = {.id = "tracing",
		   .subject = "tracing",
		   .severity = FG_SEVERITY_NOTE,
		   .meaning =
			   "`record --pid` needs root for a program that fastgate did not start, "
			   "and a scope of 3 refuses even root; benchmarks are not affected",
		   .remedy = "sudo sysctl kernel.yama.ptrace_scope=0"},
	 .path = "/proc/sys/kernel/yama/ptrace_scope",
	 .before = "kernel.yama.ptrace_scope = "},
};

/* Adds a finding. Takes ownership of the evidence. */
static struct fg_finding *add(struct fg_diagnosis *diagnosis, const struct fg_finding *words,
			      bool is_bad, char *evidence)
{
	struct fg_finding *finding = NULL;

	finding = &FG_APPEND(diagnosis->items, diagnosis->count, diagnosis->capacity);
	*finding =
		is_bad ? *words : (struct fg_finding){.id = words->id, .subject = words->subject};
	finding->evidence = evidence;
	return finding;
}

static double number_of(const char *root, const char *path, double otherwise)
{
	char line[LINE_SIZE];
	char *end = NULL;
	double value = 0;

	if (!fg_host_line(root, path, line, sizeof(line)))
		return otherwise;
	value = strtod(line, &end);
	return end == line ? otherwise : value;
}

static unsigned online_cpus(const char *root)
{
	char line[LINE_SIZE];

	return fg_host_line(root, "/sys/devices/system/cpu/online", line, sizeof(line))
		       ? fg_host_count_cpu_list(line)
		       : 0;
}

/* ---- the host ---- */

static void check_limits(const char *root, struct fg_diagnosis *diagnosis)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(limits); i++) {
		const struct limit *limit = &limits[i];
		const double value = number_of(root, limit->path, (double)NAN);

		if (isnan(value))
			continue;
		(void)add(diagnosis, &limit->words, value < limit->least || value > limit->most,
			  fg_xasprintf("%s%.0f%s", limit->before ? limit->before : "", value,
				       limit->after ? limit->after : ""));
	}
}

static void check_governor(const char *root, struct fg_diagnosis *diagnosis)
{
	const unsigned cpus = online_cpus(root);
	char other[LINE_SIZE] = "";
	char line[LINE_SIZE];
	unsigned known = 0;
	unsigned slow = 0;

	for (unsigned cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
		char path[128];

		(void)snprintf(path, sizeof(path),
			       "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
		if (!fg_host_line(root, path, line, sizeof(line)))
			continue;
		known++;
		if (strcmp(line, "performance") != 0) {
			slow++;
			(void)snprintf(other, sizeof(other), "%s", line);
		}
	}
	if (known)
		(void)add(diagnosis, &topics[GOVERNOR], slow > 0,
			  slow ? fg_xasprintf("%u of %u CPUs: %s", slow, known, other)
			       : fg_xasprintf("performance on %u CPUs", known));
}

static void check_clock(const char *root, struct fg_diagnosis *diagnosis)
{
	const char *turbo = fg_host_turbo(root);

	if (turbo)
		(void)add(diagnosis, &topics[TURBO], strcmp(turbo, "on") == 0, fg_xstrdup(turbo));
}

static void check_load(const char *root, struct fg_diagnosis *diagnosis)
{
	const double load = number_of(root, "/proc/loadavg", (double)NAN);
	const double steal = fg_host_steal_since_boot(root);
	const unsigned cpus = online_cpus(root);

	if (!isnan(load) && cpus)
		(void)add(diagnosis, &topics[LOAD], load > load_per_cpu_max * cpus,
			  fg_xasprintf("%.2f on %u CPUs", load, cpus));
	if (!isnan(steal))
		(void)add(diagnosis, &topics[STEAL], steal > steal_max,
			  fg_xasprintf("%.2f %% since boot", 100 * steal));
}

static void check_cpus(const char *root, struct fg_diagnosis *diagnosis)
{
	const double quota = fg_host_cpu_quota(root);
	const unsigned cpus = online_cpus(root);

	if (cpus)
		(void)add(diagnosis, &topics[CPUS], cpus < CPUS_MIN,
			  fg_xasprintf("%u online", cpus));
	if (quota > 0)
		(void)add(diagnosis, &topics[CPU_QUOTA], true,
			  fg_xasprintf("%.2f CPUs' worth of time", quota));
}

static void check_virtualization(const char *root, struct fg_diagnosis *diagnosis)
{
	const char *kind = fg_host_virtualization(root);

	(void)add(diagnosis, &topics[VIRTUALIZATION], strcmp(kind, "none") != 0, fg_xstrdup(kind));
}

static void check_memory(const char *root, struct fg_diagnosis *diagnosis)
{
	char *text = fg_host_text(root, "/proc/meminfo");
	const char *total = text ? strstr(text, "MemTotal:") : NULL;
	const char *available = text ? strstr(text, "MemAvailable:") : NULL;
	double share = 0;

	if (total && available) {
		share = strtod(available + strlen("MemAvailable:"), NULL) /
			strtod(total + strlen("MemTotal:"), NULL);
		(void)add(diagnosis, &topics[MEMORY], share < memory_free_min,
			  fg_xasprintf("%.0f %% available", 100 * share));
	}
	free(text);
}

static void check_numa_balancing(const char *root, struct fg_diagnosis *diagnosis)
{
	const double balancing = number_of(root, "/proc/sys/kernel/numa_balancing", 0);
	char line[LINE_SIZE];

	if (fg_host_line(root, "/sys/devices/system/node/online", line, sizeof(line)) &&
	    fg_host_count_cpu_list(line) > 1)
		(void)add(diagnosis, &topics[NUMA_BALANCING], balancing > 0,
			  fg_xasprintf("%s, nodes %s", balancing > 0 ? "on" : "off", line));
}

void fg_doctor_host(const char *root, struct fg_diagnosis *diagnosis)
{
	check_cpus(root, diagnosis);
	check_load(root, diagnosis);
	check_governor(root, diagnosis);
	check_clock(root, diagnosis);
	check_memory(root, diagnosis);
	check_numa_balancing(root, diagnosis);
	check_limits(root, diagnosis);
	check_virtualization(root, diagnosis);
}

/* ---- this process ---- */

static void check_perf_open(struct fg_diagnosis *diagnosis)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
	const int error = errno;

	(void)add(diagnosis, &topics[PERF], fd < 0,
		  fd < 0 ? fg_xasprintf("perf_event_open: %s", strerrordesc_np(error))
			 : fg_xstrdup("can be opened"));
	if (fd >= 0)
		(void)close((int)fd);
}

static void check_surroundings(struct fg_diagnosis *diagnosis)
{
	const int current = personality(0xffffffff);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		(void)add(diagnosis, &topics[AFFINITY], CPU_COUNT(&set) < CPUS_MIN,
			  fg_xasprintf("%d", CPU_COUNT(&set)));
	if (current >= 0 && (unsigned)current & ADDR_NO_RANDOMIZE)
		(void)add(diagnosis, &topics[NO_ASLR_HERE], true,
			  fg_xstrdup("off for this process"));
}

static void check_installed(struct fg_diagnosis *diagnosis)
{
	struct fg_error err = {0};
	char *library = NULL;
	char *git = fg_fs_find_program("git");
	const bool found = fg_preload_library(&library, &err) == FG_OK;

	(void)add(diagnosis, &topics[COLLECTOR], !found, fg_xstrdup(found ? library : err.message));
	(void)add(diagnosis, &topics[GIT], !git, fg_xstrdup(git ? git : "not in PATH"));
	free(git);
	free(library);
}

/*
 * Hosted services set these variables in every job; a self-hosted runner sets another value, or
 * nothing.
 */
static void check_hosted_runner(struct fg_diagnosis *diagnosis)
{
	const char *github = getenv("RUNNER_ENVIRONMENT");
	const char *gitlab = getenv("CI_RUNNER_TAGS");
	const char *where = NULL;

	if (github && strcmp(github, "github-hosted") == 0)
		where = "GitHub";
	else if (gitlab && strstr(gitlab, "saas-linux"))
		where = "GitLab";
	if (where)
		(void)add(diagnosis, &topics[HOSTED_RUNNER], true,
			  fg_xasprintf("a machine that %s provides for this job", where));
}

void fg_doctor_process(struct fg_diagnosis *diagnosis)
{
	check_hosted_runner(diagnosis);
	check_surroundings(diagnosis);
	check_perf_open(diagnosis);
	check_installed(diagnosis);
}

/* ---- benchmarks ---- */

/* Adds nothing for clang, which does not record its flags. */
static void check_optimisation(const struct fg_binary *binary, const char *name,
			       struct fg_diagnosis *diagnosis)
{
	const unsigned level = binary->producer ? fg_binary_level_of(binary->producer) : 0;
	char *words = fg_binary_level_names(level);

	if (level)
		add(diagnosis, &topics[DEBUG_BUILD], level == FG_BINARY_O0 || level == FG_BINARY_OG,
		    fg_xasprintf("built with %s", words))
			->subject = name;
	free(words);
}

static void check_debug_info(const struct fg_binary *binary, const char *name,
			     struct fg_diagnosis *diagnosis)
{
	const bool is_bare = !binary->has_symbols && !binary->has_debug_info;

	add(diagnosis, &topics[DEBUG_INFO], !binary->has_debug_info,
	    fg_xstrdup(binary->has_debug_info ? "has debug information"
		       : is_bare              ? "no symbols, no debug information"
					      : "no debug information"))
		->subject = name;
}

static void check_samplable(const char *program, const char *name, struct fg_diagnosis *diagnosis)
{
	struct fg_error err = {0};
	char *library = NULL;

	if (fg_preload_library(&library, NULL) != FG_OK)
		return; /* check_installed() reports a missing library */
	if (fg_preload_check(program, library, &err) != FG_OK)
		add(diagnosis, &topics[SAMPLABLE], true, fg_xstrdup(err.message))->subject = name;
	free(library);
}

void fg_doctor_benchmark(const struct fg_benchmark *benchmark, const char *root,
			 struct fg_diagnosis *diagnosis)
{
	const char *name = benchmark->name;
	struct fg_binary binary = {0};
	struct fg_target target;

	fg_target_init(&target, FG_ARM_CANDIDATE, benchmark, root);
	fg_target_resolve(&target);
	if (!target.program)
		add(diagnosis, &topics[MISSING], true, fg_xstrdup(target.command->argv[0]))
			->subject = name;
	else if (target.is_wrapper)
		add(diagnosis, &topics[WRAPPER], true,
		    fg_xasprintf("the command runs through %s", target.program))
			->subject = name;
	if (target.program && !target.is_shell &&
	    fg_binary_read(target.program, &binary, NULL) == FG_OK) {
		check_optimisation(&binary, name, diagnosis);
		check_debug_info(&binary, name, diagnosis);
		check_samplable(target.program, name, diagnosis);
	}
	fg_binary_release(&binary);
	fg_target_release(&target);
}
