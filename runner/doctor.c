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
	PARANOID_MAX = 2,
	SAMPLE_RATE_MIN = 4000,
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
		free(diagnosis->items[i].subject);
		free(diagnosis->items[i].evidence);
		free(diagnosis->items[i].meaning);
		free(diagnosis->items[i].remedy);
	}
	free(diagnosis->items);
	*diagnosis = (struct fg_diagnosis){0};
}

/* The texts of a finding; all literals except the evidence, which the finding takes over. */
struct words {
	const char *id;
	const char *subject;
	enum fg_severity severity;
	const char *meaning;
	const char *remedy;
};

static void add(struct fg_diagnosis *diagnosis, const struct words *words, char *evidence)
{
	const bool is_fine = words->severity == FG_SEVERITY_OK;
	struct fg_finding *finding = NULL;

	diagnosis->items = fg_grow(diagnosis->items, &diagnosis->capacity, diagnosis->count + 1,
				   sizeof(diagnosis->items[0]));
	finding = &diagnosis->items[diagnosis->count++];
	*finding = (struct fg_finding){.id = words->id, .severity = words->severity};
	finding->subject = fg_xstrdup(words->subject);
	finding->evidence = evidence;
	if (!is_fine) {
		finding->meaning = fg_xstrdup(words->meaning);
		finding->remedy = fg_xstrdup(words->remedy);
	}
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
	if (!known)
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "governor",
		    .subject = "frequency governor",
		    .severity = slow ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning =
			    "the clock follows the load, so the first repetitions run slower than the later ones",
		    .remedy = "sudo cpupower frequency-set --governor performance",
	    },
	    slow ? fg_xasprintf("%u of %u CPUs: %s", slow, known, other)
		 : fg_xasprintf("performance on %u CPUs", known));
}

static void check_turbo(const char *root, struct fg_diagnosis *diagnosis)
{
	const char *turbo = fg_host_turbo(root);
	const bool is_intel = fg_host_line(root, "/sys/devices/system/cpu/intel_pstate/no_turbo",
					   (char[8]){0}, 8);

	if (!turbo)
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "turbo",
		    .subject = "turbo",
		    .severity = strcmp(turbo, "on") == 0 ? FG_SEVERITY_NOTE : FG_SEVERITY_OK,
		    .meaning = "the clock depends on temperature and on what the other cores do",
		    .remedy =
			    is_intel
				    ? "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
				    : "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
	    },
	    fg_xstrdup(turbo));
}

static void check_load(const char *root, struct fg_diagnosis *diagnosis)
{
	const double load = number_of(root, "/proc/loadavg", (double)NAN);
	const unsigned cpus = online_cpus(root);

	if (isnan(load) || !cpus)
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "load",
		    .subject = "load",
		    .severity =
			    load > load_per_cpu_max * cpus ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning =
			    "other programs take CPU time and caches; the duet schedule copes with it best",
		    .remedy = "ps -eo pcpu,pid,args --sort=-pcpu | head",
	    },
	    fg_xasprintf("%.2f on %u CPUs", load, cpus));
}

static void check_steal(const char *root, struct fg_diagnosis *diagnosis)
{
	const double steal = fg_host_steal_since_boot(root);

	if (isnan(steal))
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "steal",
		    .subject = "stolen time",
		    .severity = steal > steal_max ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning =
			    "the hypervisor gives this machine's CPUs to others; repetitions that lose more than half are set aside",
		    .remedy = "use a machine with dedicated CPUs, or schedule: duet",
	    },
	    fg_xasprintf("%.2f %% since boot", 100 * steal));
}

static void check_smt(const char *root, struct fg_diagnosis *diagnosis)
{
	char line[LINE_SIZE];

	if (!fg_host_line(root, "/sys/devices/system/cpu/smt/active", line, sizeof(line)))
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "smt",
		    .subject = "SMT siblings",
		    .severity = *line == '1' ? FG_SEVERITY_NOTE : FG_SEVERITY_OK,
		    .meaning =
			    "two hardware threads share one core: whatever runs on the sibling slows the benchmark",
		    .remedy = "echo off | sudo tee /sys/devices/system/cpu/smt/control",
	    },
	    fg_xstrdup(*line == '1' ? "active" : "not active"));
}

static void check_aslr(const char *root, struct fg_diagnosis *diagnosis)
{
	const double aslr = number_of(root, "/proc/sys/kernel/randomize_va_space", (double)NAN);

	if (isnan(aslr))
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "aslr",
		    .subject = "address space randomisation",
		    .severity = aslr < 2 ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning =
			    "each repetition gets the same memory layout, so a lucky or unlucky one looks like a real difference",
		    .remedy = "sudo sysctl kernel.randomize_va_space=2",
	    },
	    fg_xasprintf("kernel.randomize_va_space = %.0f", aslr));
}

/*
 * Yama: 1 allows tracing descendants only, 2 requires CAP_SYS_PTRACE, 3 forbids tracing altogether.
 */
static void check_tracing(const char *root, struct fg_diagnosis *diagnosis)
{
	const double scope = number_of(root, "/proc/sys/kernel/yama/ptrace_scope", (double)NAN);

	if (isnan(scope))
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "tracing",
		    .subject = "tracing",
		    .severity = scope > 1   ? FG_SEVERITY_WARNING
				: scope > 0 ? FG_SEVERITY_NOTE
					    : FG_SEVERITY_OK,
		    .meaning =
			    scope > 1 ? "`record --pid` is refused, and so is `run --affected`"
				      : "`record --pid` needs root for a program that fastgate did "
					"not start; benchmarks are not affected",
		    .remedy = "sudo sysctl kernel.yama.ptrace_scope=0",
	    },
	    fg_xasprintf("kernel.yama.ptrace_scope = %.0f", scope));
}

static void check_perf_limits(const char *root, struct fg_diagnosis *diagnosis)
{
	const double paranoid =
		number_of(root, "/proc/sys/kernel/perf_event_paranoid", (double)NAN);
	const double rate =
		number_of(root, "/proc/sys/kernel/perf_event_max_sample_rate", (double)NAN);

	if (!isnan(paranoid))
		add(diagnosis,
		    &(struct words){
			    .id = "perf_event_paranoid",
			    .subject = "perf permission",
			    .severity =
				    paranoid > PARANOID_MAX ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
			    .meaning =
				    "perf events are refused: the sampler falls back to coarser timers",
			    .remedy = "sudo sysctl kernel.perf_event_paranoid=2",
		    },
		    fg_xasprintf("kernel.perf_event_paranoid = %.0f", paranoid));
	if (!isnan(rate))
		add(diagnosis,
		    &(struct words){
			    .id = "perf_throttled",
			    .subject = "perf sample rate",
			    .severity =
				    rate < SAMPLE_RATE_MIN ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
			    .meaning =
				    "the kernel has throttled perf because sampling interrupts took too long",
			    .remedy =
				    "sudo sysctl kernel.perf_cpu_time_max_percent=25 kernel.perf_event_max_sample_rate=100000",
		    },
		    fg_xasprintf("at most %.0f samples a second", rate));
}

static void check_quota(const char *root, struct fg_diagnosis *diagnosis)
{
	const double quota = fg_host_cpu_quota(root);

	if (quota > 0)
		add(diagnosis,
		    &(struct words){
			    .id = "cpu_quota",
			    .subject = "CPU quota",
			    .severity = FG_SEVERITY_WARNING,
			    .meaning =
				    "the control group stops its programs for the rest of each period when the quota is used up",
			    .remedy =
				    "run the container without --cpus, or pin it with --cpuset-cpus instead",
		    },
		    fg_xasprintf("%.2f CPUs' worth of time", quota));
}

static void check_cpus(const char *root, struct fg_diagnosis *diagnosis)
{
	const unsigned cpus = online_cpus(root);

	if (!cpus)
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "cpus",
		    .subject = "CPUs",
		    .severity = cpus < CPUS_MIN ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning = "benchmark, fastgate and the rest of the system share one CPU",
		    .remedy = "use a machine with two CPUs or more",
	    },
	    fg_xasprintf("%u online", cpus));
}

static void check_virtualization(const char *root, struct fg_diagnosis *diagnosis)
{
	const char *kind = fg_host_virtualization(root);
	const bool is_guest = strcmp(kind, "none") != 0;

	add(diagnosis,
	    &(struct words){
		    .id = "virtualization",
		    .subject = "virtualization",
		    .severity = is_guest ? FG_SEVERITY_NOTE : FG_SEVERITY_OK,
		    .meaning =
			    "neighbours on the same hardware cannot be seen from here; comparing within one session takes them out",
		    .remedy = NULL,
	    },
	    fg_xstrdup(kind));
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
		add(diagnosis,
		    &(struct words){
			    .id = "memory",
			    .subject = "free memory",
			    .severity =
				    share < memory_free_min ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
			    .meaning =
				    "a machine short of memory drops caches and swaps while it measures",
			    .remedy = "ps -eo rss,pid,args --sort=-rss | head",
		    },
		    fg_xasprintf("%.0f %% available", 100 * share));
	}
	free(text);
}

static void check_thermal(const char *root, struct fg_diagnosis *diagnosis)
{
	const double count = number_of(
		root, "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count",
		(double)NAN);

	if (isnan(count))
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "thermal",
		    .subject = "thermal throttling",
		    .severity = count > 0 ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning = "the processor has slowed itself down because it was too hot",
		    .remedy = "improve the cooling, or turn turbo off",
	    },
	    fg_xasprintf("%.0f times since boot", count));
}

static void check_numa_balancing(const char *root, struct fg_diagnosis *diagnosis)
{
	const double balancing = number_of(root, "/proc/sys/kernel/numa_balancing", 0);
	char line[LINE_SIZE];

	if (!fg_host_line(root, "/sys/devices/system/node/online", line, sizeof(line)) ||
	    fg_host_count_cpu_list(line) < 2)
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "numa_balancing",
		    .subject = "NUMA balancing",
		    .severity = balancing > 0 ? FG_SEVERITY_NOTE : FG_SEVERITY_OK,
		    .meaning = "the kernel moves pages between memory nodes while programs run",
		    .remedy = "sudo sysctl kernel.numa_balancing=0",
	    },
	    fg_xasprintf("%s, nodes %s", balancing > 0 ? "on" : "off", line));
}

static void (*const host_checks[])(const char *root, struct fg_diagnosis *diagnosis) = {
	check_cpus,     check_load,           check_steal,
	check_governor, check_turbo,          check_smt,
	check_quota,    check_memory,         check_thermal,
	check_aslr,     check_numa_balancing, check_perf_limits,
	check_tracing,  check_virtualization,
};

void fg_doctor_host(const char *root, struct fg_diagnosis *diagnosis)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(host_checks); i++)
		host_checks[i](root, diagnosis);
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

	add(diagnosis,
	    &(struct words){
		    .id = "perf",
		    .subject = "perf task clock",
		    .severity = fd < 0 ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning =
			    "the sampler's best clock is refused here (a container's seccomp rules often do that); it falls back to coarser timers",
		    .remedy = "docker run --security-opt seccomp=unconfined, or --cap-add PERFMON",
	    },
	    fd < 0 ? fg_xasprintf("perf_event_open: %s", strerrordesc_np(error))
		   : fg_xstrdup("can be opened"));
	if (fd >= 0)
		(void)close((int)fd);
}

static void check_personality(struct fg_diagnosis *diagnosis)
{
	const int current = personality(0xffffffff);

	if (current < 0 || !((unsigned)current & ADDR_NO_RANDOMIZE))
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "aslr_personality",
		    .subject = "address space randomisation",
		    .severity = FG_SEVERITY_WARNING,
		    .meaning =
			    "this shell was started without it (setarch -R, or a debugger): each repetition gets the same layout",
		    .remedy = "start fastgate from an ordinary shell",
	    },
	    fg_xstrdup("off for this process"));
}

static void check_affinity(struct fg_diagnosis *diagnosis)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "affinity",
		    .subject = "usable CPUs",
		    .severity = CPU_COUNT(&set) < CPUS_MIN ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning =
			    "the benchmark and fastgate itself share the only CPU that is allowed",
		    .remedy = "taskset --cpu-list 0-N fastgate ...",
	    },
	    fg_xasprintf("%d", CPU_COUNT(&set)));
}

static void check_collector(struct fg_diagnosis *diagnosis)
{
	struct fg_error err = {0};
	char *library = NULL;
	const bool found = fg_preload_library(&library, &err) == FG_OK;

	add(diagnosis,
	    &(struct words){
		    .id = "collector",
		    .subject = "sampler library",
		    .severity = found ? FG_SEVERITY_OK : FG_SEVERITY_PROBLEM,
		    .meaning = "without it there are no profiles, only times",
		    .remedy =
			    "install all of fastgate, or set FASTGATE_COLLECTOR to the path of the library",
	    },
	    fg_xstrdup(found ? library : err.message));
	free(library);
}

static void check_git(struct fg_diagnosis *diagnosis)
{
	char *git = fg_fs_find_program("git");

	add(diagnosis,
	    &(struct words){
		    .id = "git",
		    .subject = "git",
		    .severity = git ? FG_SEVERITY_OK : FG_SEVERITY_WARNING,
		    .meaning = "run --against needs it, and runs are recorded without their commit",
		    .remedy = "sudo apt-get install git",
	    },
	    fg_xstrdup(git ? git : "not in PATH"));
	free(git);
}

/*
 * The hosted services set these in every job; a self-hosted runner sets another value, or nothing.
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
	if (!where)
		return;
	add(diagnosis,
	    &(struct words){
		    .id = "hosted_runner",
		    .subject = "hosted runner",
		    .severity = FG_SEVERITY_NOTE,
		    .meaning =
			    "each job gets another virtual machine, of another processor now and then, whose "
			    "CPUs are shared with strangers: times of different jobs cannot be compared, "
			    "those of one job can",
		    .remedy =
			    "let each job measure both sides (--against, not `schedule: stored`), gate CPU "
			    "time rather than wall time, and set `measure.exact: valgrind` for changes below 1 %",
	    },
	    fg_xasprintf("a machine that %s lends for this job", where));
}

void fg_doctor_process(struct fg_diagnosis *diagnosis)
{
	check_hosted_runner(diagnosis);
	check_affinity(diagnosis);
	check_personality(diagnosis);
	check_perf_open(diagnosis);
	check_collector(diagnosis);
	check_git(diagnosis);
}

/* ---- benchmarks ---- */

/* The last -O option passed to the compiler; NULL: none. */
static const char *optimisation(const char *producer)
{
	const char *found = NULL;

	for (const char *at = strstr(producer, " -O"); at; at = strstr(at + 1, " -O"))
		found = at + 1;
	return found;
}

static void check_optimisation(const struct fg_binary *binary, const char *name,
			       struct fg_diagnosis *diagnosis)
{
	const char *level = binary->producer ? optimisation(binary->producer) : NULL;
	const bool has_flags = binary->producer && strstr(binary->producer, " -");
	const bool is_debug = has_flags && (!level || fg_text_starts_with(level, "-O0") ||
					    fg_text_starts_with(level, "-Og"));

	if (!has_flags)
		return; /* clang does not record them */
	add(diagnosis,
	    &(struct words){
		    .id = "debug_build",
		    .subject = name,
		    .severity = is_debug ? FG_SEVERITY_WARNING : FG_SEVERITY_OK,
		    .meaning =
			    "it was compiled without optimisation: its speed says little about a release",
		    .remedy = "cmake -DCMAKE_BUILD_TYPE=RelWithDebInfo, or CFLAGS='-O2 -g'",
	    },
	    level ? fg_xasprintf("built with %.*s", (int)strcspn(level, " "), level)
		  : fg_xstrdup("built without -O"));
}

static void check_debug_info(const struct fg_binary *binary, const char *name,
			     struct fg_diagnosis *diagnosis)
{
	const bool is_bare = !binary->has_symbols && !binary->has_debug_info;

	add(diagnosis,
	    &(struct words){
		    .id = "debug_info",
		    .subject = name,
		    .severity = binary->has_debug_info ? FG_SEVERITY_OK : FG_SEVERITY_WARNING,
		    .meaning =
			    is_bare ? "it is stripped: profiles show addresses instead of functions"
				    : "profiles show functions, but neither files and lines nor inlined calls",
		    .remedy = "compile with -g and do not strip; optimisation stays on",
	    },
	    fg_xstrdup(binary->has_debug_info ? "debug information is there"
		       : is_bare              ? "no symbols, no debug information"
					      : "no debug information"));
}

static void check_samplable(const char *program, const char *name, struct fg_diagnosis *diagnosis)
{
	struct fg_error err = {0};
	char *library = NULL;

	if (fg_preload_library(&library, NULL) != FG_OK)
		return; /* reported already */
	if (fg_preload_check(program, library, &err) != FG_OK)
		add(diagnosis,
		    &(struct words){
			    .id = "samplable",
			    .subject = name,
			    .severity = FG_SEVERITY_WARNING,
			    .meaning = "it can be timed, but not sampled: no functions, no blame",
			    .remedy = "link it dynamically, without set-user-id and sanitizers",
		    },
		    fg_xstrdup(err.message));
	free(library);
}

void fg_doctor_benchmark(const struct fg_benchmark *benchmark, const char *root,
			 struct fg_diagnosis *diagnosis)
{
	struct fg_binary binary = {0};
	struct fg_target target;

	fg_target_init(&target, FG_ARM_CANDIDATE, benchmark, root);
	fg_target_resolve(&target);
	if (!target.program) {
		add(diagnosis,
		    &(struct words){
			    .id = "missing",
			    .subject = benchmark->name,
			    .severity = FG_SEVERITY_PROBLEM,
			    .meaning = "the program is not there, or cannot be executed",
			    .remedy = "build it first, or correct `command` in fastgate.yml",
		    },
		    fg_xstrdup(target.command->argv[0]));
	}
	if (target.program && target.is_wrapper)
		add(diagnosis,
		    &(struct words){
			    .id = "wrapper",
			    .subject = benchmark->name,
			    .severity = FG_SEVERITY_NOTE,
			    .meaning =
				    "whether the binaries behind it changed is not known, so it is measured even where nothing did",
			    .remedy =
				    "name the program itself in `command`; what must happen before goes into `setup` or `prepare`",
		    },
		    fg_xasprintf("it runs through %s", target.program));
	if (target.program && !target.is_shell &&
	    fg_binary_read(target.program, &binary, NULL) == FG_OK) {
		check_optimisation(&binary, benchmark->name, diagnosis);
		check_debug_info(&binary, benchmark->name, diagnosis);
		check_samplable(target.program, benchmark->name, diagnosis);
	}
	fg_binary_release(&binary);
	fg_target_release(&target);
}
