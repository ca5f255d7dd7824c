// SPDX-License-Identifier: Apache-2.0
/* Noisy and quiet hosts, as folders of files like those in /proc and /sys. */
#include "runner/doctor.h"
#include "tests/support/fg_test.h"
#include "tests/unit/runner/fake_host.h"

#include <string.h>

/* Makes a host without any problem. */
static int set_up(void **state)
{
	static const struct fg_fake_file files[] = {
		{"/proc/cpuinfo", "flags\t: fpu sse\n"},
		{"/proc/stat", "cpu  100 0 50 849 0 0 0 1 0 0\n"},
		{"/proc/loadavg", "0.10 0.10 0.10 1/300 4000\n"},
		{"/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 900 kB\n"},
		{"/proc/sys/kernel/randomize_va_space", "2\n"},
		{"/proc/sys/kernel/perf_event_paranoid", "2\n"},
		{"/proc/sys/kernel/perf_event_max_sample_rate", "100000\n"},
		{"/proc/sys/kernel/yama/ptrace_scope", "0\n"},
		{"/sys/devices/system/cpu/online", "0-3\n"},
		{"/sys/devices/system/cpu/smt/active", "0\n"},
		{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"},
		{"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"},
		{"/sys/devices/system/cpu/cpufreq/boost", "0\n"},
		{"/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "0\n"},
		{NULL, NULL},
	};

	(void)state;
	return fg_fake_host_set_up(files);
}

static const struct fg_finding none = {.id = "none", .severity = FG_SEVERITY_OK};

static const struct fg_finding *find(const struct fg_diagnosis *diagnosis, const char *id)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		if (strcmp(diagnosis->items[i].id, id) == 0)
			return &diagnosis->items[i];
	}
	fail_msg("'%s' was not looked at", id);
	return &none;
}

FG_TEST_IN(a_healthy_host_gets_no_advice, set_up, fg_fake_host_tear_down)
{
	struct fg_diagnosis diagnosis = {0};

	fg_doctor_host(fg_fake_host.path, &diagnosis);
	assert_int_equal(diagnosis.count, 13);
	for (size_t i = 0; i < diagnosis.count; i++) {
		if (diagnosis.items[i].severity != FG_SEVERITY_OK)
			fail_msg("%s: %s", diagnosis.items[i].id, diagnosis.items[i].evidence);
		assert_null(diagnosis.items[i].remedy);
		assert_true(*diagnosis.items[i].evidence);
	}
	assert_int_equal(fg_diagnosis_worst(&diagnosis), FG_SEVERITY_OK);
	fg_diagnosis_release(&diagnosis);
}

FG_TEST_IN(each_noise_source_is_found_with_evidence_and_remedy, set_up, fg_fake_host_tear_down)
{
	static const struct {
		const char *path;
		const char *text;
		const char *id;
		enum fg_severity severity;
		const char *evidence;
	} cases[] = {
		{"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n", "governor",
		 FG_SEVERITY_WARNING, "1 of 2 CPUs: powersave"},
		{"/sys/devices/system/cpu/cpufreq/boost", "1\n", "turbo", FG_SEVERITY_NOTE, "on"},
		{"/proc/loadavg", "3.50 1 1 1/3 4\n", "load", FG_SEVERITY_WARNING,
		 "3.50 on 4 CPUs"},
		{"/proc/stat", "cpu  100 0 50 800 0 0 0 50 0 0\n", "steal", FG_SEVERITY_WARNING,
		 "5.00 % since boot"},
		{"/sys/devices/system/cpu/smt/active", "1\n", "smt", FG_SEVERITY_NOTE,
		 "smt/active = 1"},
		{"/proc/sys/kernel/randomize_va_space", "0\n", "aslr", FG_SEVERITY_WARNING,
		 "kernel.randomize_va_space = 0"},
		{"/proc/sys/kernel/perf_event_paranoid", "4\n", "perf_event_paranoid",
		 FG_SEVERITY_WARNING, "kernel.perf_event_paranoid = 4"},
		{"/proc/sys/kernel/yama/ptrace_scope", "1\n", "tracing", FG_SEVERITY_NOTE,
		 "kernel.yama.ptrace_scope = 1"},
		{"/proc/sys/kernel/perf_event_max_sample_rate", "1000\n", "perf_throttled",
		 FG_SEVERITY_WARNING, "at most 1000 samples a second"},
		{"/sys/fs/cgroup/cpu.max", "150000 100000\n", "cpu_quota", FG_SEVERITY_WARNING,
		 "1.50 CPUs' worth of time"},
		{"/sys/devices/system/cpu/online", "0\n", "cpus", FG_SEVERITY_WARNING, "1 online"},
		{"/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n", "memory",
		 FG_SEVERITY_WARNING, "5 % available"},
		{"/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "7\n",
		 "thermal", FG_SEVERITY_WARNING, "throttling events since boot: 7"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fg_diagnosis diagnosis = {0};
		const struct fg_finding *finding = &none;

		(void)fg_fake_host_tear_down(NULL);
		(void)set_up(NULL);
		fg_fake_host_put(cases[i].path, cases[i].text);
		fg_doctor_host(fg_fake_host.path, &diagnosis);
		finding = find(&diagnosis, cases[i].id);
		assert_int_equal(finding->severity, cases[i].severity);
		assert_string_equal(finding->evidence, cases[i].evidence);
		assert_non_null(finding->meaning);
		assert_non_null(finding->remedy);
		fg_diagnosis_release(&diagnosis);
	}
}

FG_TEST(a_host_that_reports_nothing_gets_only_known_facts)
{
	struct fg_diagnosis diagnosis = {0};

	fg_doctor_host("/no/such/root", &diagnosis);
	assert_int_equal(diagnosis.count, 1);
	assert_string_equal(diagnosis.items[0].id, "virtualization");
	fg_diagnosis_release(&diagnosis);
}

FG_TEST(our_own_process_is_examined)
{
	struct fg_diagnosis diagnosis = {0};

	fg_doctor_process(&diagnosis);
	assert_non_null(find(&diagnosis, "perf"));
	assert_non_null(find(&diagnosis, "affinity"));
	assert_non_null(find(&diagnosis, "collector"));
	assert_non_null(find(&diagnosis, "git"));
	fg_diagnosis_release(&diagnosis);
}

FG_TEST(a_hosted_runner_is_explained_and_a_runner_of_ones_own_is_not)
{
	struct fg_diagnosis hosted = {0};
	struct fg_diagnosis own = {0};

	assert_int_equal(setenv("RUNNER_ENVIRONMENT", "github-hosted", 1), 0);
	fg_doctor_process(&hosted);
	assert_string_equal(find(&hosted, "hosted_runner")->evidence,
			    "a machine that GitHub provides for this job");
	fg_diagnosis_release(&hosted);
	assert_int_equal(setenv("RUNNER_ENVIRONMENT", "self-hosted", 1), 0);
	fg_doctor_process(&own);
	for (size_t i = 0; i < own.count; i++)
		assert_string_not_equal(own.items[i].id, "hosted_runner");
	fg_diagnosis_release(&own);
	assert_int_equal(unsetenv("RUNNER_ENVIRONMENT"), 0);
}

FG_TEST_IN(a_benchmarks_program_is_examined, set_up, fg_fake_host_tear_down)
{
	static char *missing[] = {"./not-there", NULL};
	char *self = realpath("/proc/self/exe", NULL);
	char *argv[] = {self, NULL};
	const struct fg_benchmark gone = {.name = "gone",
					  .command = {.text = "x", .argv = missing, .argc = 1}};
	const struct fg_benchmark here = {.name = "here",
					  .command = {.text = "y", .argv = argv, .argc = 1}};
	struct fg_diagnosis diagnosis = {0};

	fg_doctor_benchmark(&gone, fg_fake_host.path, &diagnosis);
	assert_int_equal(find(&diagnosis, "missing")->severity, FG_SEVERITY_PROBLEM);
	assert_string_equal(find(&diagnosis, "missing")->subject, "gone");
	assert_string_equal(find(&diagnosis, "missing")->evidence, "./not-there");
	fg_doctor_benchmark(&here, "/", &diagnosis);
	assert_int_equal(find(&diagnosis, "debug_info")->severity, FG_SEVERITY_OK);
	fg_diagnosis_release(&diagnosis);
	free(self);
}
