// SPDX-License-Identifier: Apache-2.0
/* Hosts as folders of files like those in /proc and /sys. */
#include "runner/facts/host.h"
#include "tests/support/fg_test.h"
#include "tests/unit/runner/fake_host.h"

#include <math.h>
#include <string.h>

static int set_up(void **state)
{
	static const struct fg_fake_file files[] = {
		{"/proc/cpuinfo",
		 "processor\t: 0\nmodel name\t: Sample CPU 3000\nmicrocode\t: 0x12\ncpu cores\t: 8\n"
		 "flags\t\t: fpu vme hypervisor sse\n"},
		{"/proc/meminfo", "MemTotal:       16777216 kB\nSwapTotal:             0 kB\n"},
		{"/proc/stat", "cpu  100 0 50 700 50 0 0 100 0 0\n"},
		{"/proc/loadavg", "1.50 1.20 1.00 2/300 4000\n"},
		{"/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"},
		{"/sys/devices/system/cpu/online", "0-3,8\n"},
		{"/sys/devices/system/cpu/smt/control", "on\n"},
		{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"},
		{"/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"},
		{NULL, NULL},
	};

	(void)state;
	return fg_fake_host_set_up(files);
}

FG_TEST_IN(facts_are_read_and_identity_is_coarse, set_up, fg_fake_host_tear_down)
{
	struct fg_environment host = {0};
	char before[17];
	char after[17];

	fg_host_capture(fg_fake_host.path, &host);
	assert_string_equal(fg_environment_get(&host, "host.cpu.model"), "Sample CPU 3000");
	assert_string_equal(fg_environment_get(&host, "host.cpu.count"), "5");
	assert_string_equal(fg_environment_get(&host, "host.cpu.microcode"), "0x12");
	assert_string_equal(fg_environment_get(&host, "host.cpu.governor"), "powersave");
	assert_string_equal(fg_environment_get(&host, "host.memory.total"), "16.0 GiB");
	assert_string_equal(fg_environment_get(&host, "host.kernel.series"), "6.1");
	assert_string_equal(fg_environment_get(&host, "host.steal"), "10.00 % since boot");
	assert_string_equal(fg_environment_get(&host, "host.load"), "1.50");
	assert_string_equal(fg_environment_get(&host, "host.virtualization"), "amazon");
	fg_environment_fingerprint(&host, before);
	fg_environment_release(&host);

	fg_fake_host_put("/proc/loadavg", "9.00 1.20 1.00 2/300 4000\n");
	fg_fake_host_put("/proc/sys/kernel/osrelease", "6.1.0-19-amd64\n");
	fg_host_capture(fg_fake_host.path, &host);
	fg_environment_fingerprint(&host, after);
	assert_string_equal(before, after);
	fg_environment_release(&host);

	fg_fake_host_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	fg_host_capture(fg_fake_host.path, &host);
	fg_environment_fingerprint(&host, after);
	assert_string_not_equal(before, after);
	fg_environment_release(&host);
}

FG_TEST_IN(a_host_that_reports_nothing_is_not_an_error, set_up, fg_fake_host_tear_down)
{
	struct fg_environment host = {0};

	fg_host_capture("/no/such/root", &host);
	assert_string_equal(fg_environment_get(&host, "host.virtualization"), "none");
	assert_null(fg_environment_get(&host, "host.cpu.model"));
	assert_null(fg_host_turbo("/no/such/root"));
	assert_true(isnan(fg_host_steal_since_boot("/no/such/root")));
	fg_environment_release(&host);
}

FG_TEST(cpu_lists_are_counted)
{
	static const struct {
		const char *list;
		unsigned expected;
	} cases[] = {
		{"0", 1},   {"0-3", 4}, {"0-3,8,10-11\n", 7}, {"", 0}, {"x", 0},
		{"3-1", 0}, {"0-", 0},  {"0-99999999", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(fg_host_count_cpu_list(cases[i].list), cases[i].expected);
}

FG_TEST_IN(quotas_of_both_kinds_of_control_groups_are_read, set_up, fg_fake_host_tear_down)
{
	assert_true(fg_host_cpu_quota(fg_fake_host.path) == 0);
	fg_fake_host_put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
	fg_fake_host_put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	assert_true(fabs(fg_host_cpu_quota(fg_fake_host.path) - 1.5) < 1e-9);
	fg_fake_host_put("/sys/fs/cgroup/cpu.max", "max 100000\n");
	assert_true(fg_host_cpu_quota(fg_fake_host.path) == 0);
	fg_fake_host_put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
	assert_true(fabs(fg_host_cpu_quota(fg_fake_host.path) - 0.5) < 1e-9);
}

FG_TEST_IN(containers_and_hypervisors_are_named, set_up, fg_fake_host_tear_down)
{
	assert_null(fg_host_container(fg_fake_host.path));
	fg_fake_host_put("/proc/1/cgroup", "0::/kubepods/besteffort/pod1\n");
	assert_string_equal(fg_host_container(fg_fake_host.path), "kubernetes");
	fg_fake_host_put("/.dockerenv", "");
	assert_string_equal(fg_host_container(fg_fake_host.path), "docker");
	fg_fake_host_put("/sys/class/dmi/id/sys_vendor", "Somebody\n");
	assert_string_equal(fg_host_virtualization(fg_fake_host.path), "virtual machine");
	fg_fake_host_put("/sys/devices/system/clocksource/clocksource0/available_clocksource",
			 "kvm-clock tsc\n");
	assert_string_equal(fg_host_virtualization(fg_fake_host.path), "kvm");
	fg_fake_host_put("/proc/cpuinfo", "flags: fpu\n");
	assert_string_equal(fg_host_virtualization(fg_fake_host.path), "none");
}

FG_TEST_IN(turbo_is_known_from_either_driver, set_up, fg_fake_host_tear_down)
{
	fg_fake_host_put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
	assert_string_equal(fg_host_turbo(fg_fake_host.path), "on");
	fg_fake_host_put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	assert_string_equal(fg_host_turbo(fg_fake_host.path), "off");
}
