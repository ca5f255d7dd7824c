// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/host.h"

#include "base/fs.h"
#include "base/text.h"
#include "runner/execute/observe.h"

#include <math.h>
#include <strings.h>
#include <sys/utsname.h>

enum {
	FILE_MAX_BYTES = 4 << 20,
	PATH_SIZE = 4096,
	LINE_SIZE = 256
};

static const double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;

char *fg_host_text(const char *root, const char *path)
{
	char full[PATH_SIZE];
	char *text = NULL;

	(void)snprintf(full, sizeof(full), "%s%s", root, path);
	return fg_fs_read(full, FILE_MAX_BYTES, &text, NULL, NULL) == FG_OK ? text : NULL;
}

bool fg_host_line(const char *root, const char *path, char *line, size_t size)
{
	char *text = fg_host_text(root, path);
	const size_t length = text ? strcspn(text, "\n") : 0;

	if (text)
		(void)snprintf(line, size, "%.*s", (int)fg_min_size(length, size - 1), text);
	free(text);
	return text != NULL;
}

unsigned fg_host_count_cpu_list(const char *list)
{
	unsigned count = 0;

	while (*list) {
		char *end = NULL;
		unsigned long first = strtoul(list, &end, 10);
		unsigned long last = first;

		if (end == list)
			return 0;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list || last < first || last - first > 1 << 20)
				return 0;
		}
		count += (unsigned)(last - first) + 1;
		list = end + (*end == ',');
		if (*end && *end != ',' && *end != '\n')
			return 0;
		if (*end == '\n')
			break;
	}
	return count;
}

/* Finds the value after "key :" in lines of that form. */
static bool find_field(const char *text, const char *key, char *value, size_t size)
{
	const size_t length = strlen(key);

	for (const char *line = text; line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *colon = NULL;

		if (strncmp(line, key, length) != 0)
			continue;
		colon = line + length + strspn(line + length, " \t");
		if (*colon != ':' && *colon != '=')
			continue;
		colon += 1 + strspn(colon + 1, " \t\"");
		(void)snprintf(value, size, "%.*s",
			       (int)fg_min_size(strcspn(colon, "\"\n"), size - 1), colon);
		return true;
	}
	return false;
}

/* ---- virtualization and containers ---- */

static const struct {
	const char *words;
	const char *name;
} vendors[] = {
	{"amazon ec2", "amazon"},
	{"google", "google"},
	{"microsoft", "microsoft"},
	{"vmware", "vmware"},
	{"innotek", "virtualbox"},
	{"virtualbox", "virtualbox"},
	{"parallels", "parallels"},
	{"xen", "xen"},
	{"kvm", "kvm"},
	{"qemu", "kvm"},
	{"bochs", "kvm"},
	{"openstack", "kvm"},
	{"digitalocean", "kvm"},
	{"hetzner", "kvm"},
};

const char *fg_host_virtualization(const char *root)
{
	static const char *const dmi_files[] = {
		"/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name",
		"/sys/class/dmi/id/bios_vendor", "/sys/hypervisor/type"};
	char *cpuinfo = fg_host_text(root, "/proc/cpuinfo");
	const bool is_guest = cpuinfo && strstr(cpuinfo, " hypervisor");
	char line[LINE_SIZE];

	free(cpuinfo);
	if (!is_guest && !fg_host_line(root, "/sys/hypervisor/type", line, sizeof(line)))
		return "none";
	for (size_t i = 0; i < FG_ARRAY_SIZE(dmi_files); i++) {
		if (!fg_host_line(root, dmi_files[i], line, sizeof(line)))
			continue;
		for (size_t k = 0; k < FG_ARRAY_SIZE(vendors); k++) {
			if (strcasestr(line, vendors[k].words))
				return vendors[k].name;
		}
	}
	/* The clock source reveals the hypervisor. */
	if (fg_host_line(root, "/sys/devices/system/clocksource/clocksource0/available_clocksource",
			 line, sizeof(line))) {
		if (strstr(line, "kvm-clock"))
			return "kvm";
		if (strstr(line, "hyperv"))
			return "microsoft";
		if (strstr(line, "xen"))
			return "xen";
	}
	return "virtual machine";
}

const char *fg_host_container(const char *root)
{
	static const struct {
		const char *words;
		const char *name;
	} kinds[] = {
		{"kubepods", "kubernetes"},
		{"docker", "docker"},
		{"libpod", "podman"},
		{"lxc", "lxc"},
		{"machine.slice/systemd-nspawn", "systemd-nspawn"},
	};
	char line[LINE_SIZE];
	char *groups = NULL;
	const char *name = NULL;

	if (fg_host_line(root, "/run/.containerenv", line, sizeof(line)))
		return "podman";
	if (fg_host_line(root, "/.dockerenv", line, sizeof(line)))
		return "docker";
	groups = fg_host_text(root, "/proc/1/cgroup");
	for (size_t i = 0; groups && !name && i < FG_ARRAY_SIZE(kinds); i++) {
		if (strstr(groups, kinds[i].words))
			name = kinds[i].name;
	}
	free(groups);
	return name;
}

double fg_host_cpu_quota(const char *root)
{
	char line[LINE_SIZE];
	double quota = 0;
	double period = 0;

	if (fg_host_line(root, "/sys/fs/cgroup/cpu.max", line, sizeof(line))) {
		char *rest = line;

		quota = strtod(line, &rest); /* "max" is not converted */
		period = strtod(rest, NULL);
		return quota > 0 && period > 0 ? quota / period : 0;
	}
	if (fg_host_line(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof(line)))
		quota = strtod(line, NULL);
	if (fg_host_line(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", line, sizeof(line)))
		period = strtod(line, NULL);
	return quota > 0 && period > 0 ? quota / period : 0;
}

double fg_host_steal_since_boot(const char *root)
{
	char *text = fg_host_text(root, "/proc/stat");
	uint64_t stolen = 0;
	uint64_t all = 0;
	const bool known = text && fg_observe_parse_stat(text, -1, &stolen, &all);

	free(text);
	return known && all > 0 ? (double)stolen / (double)all : (double)NAN;
}

const char *fg_host_turbo(const char *root)
{
	char line[LINE_SIZE];

	if (fg_host_line(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", line, sizeof(line)))
		return *line == '1' ? "off" : "on";
	if (fg_host_line(root, "/sys/devices/system/cpu/cpufreq/boost", line, sizeof(line)))
		return *line == '0' ? "off" : "on";
	return NULL;
}

/* ---- facts ---- */

/* One-line files that are recorded verbatim. */
static const struct {
	const char *key;
	const char *path;
	bool identity;
} line_facts[] = {
	{"host.cpu.driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", false},
	{"host.cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", true},
	{"host.cpu.max_khz", "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", false},
	{"host.cpu.online", "/sys/devices/system/cpu/online", false},
	{"host.cpu.smt", "/sys/devices/system/cpu/smt/control", true},
	{"host.kernel.aslr", "/proc/sys/kernel/randomize_va_space", false},
	{"host.kernel.clocksource",
	 "/sys/devices/system/clocksource/clocksource0/current_clocksource", false},
	{"host.kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid", false},
	{"host.kernel.release", "/proc/sys/kernel/osrelease", false},
	{"host.kernel.version", "/proc/sys/kernel/version", false},
	{"host.memory.huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled", false},
	{"host.name", "/proc/sys/kernel/hostname", false},
	{"host.product", "/sys/class/dmi/id/product_name", false},
};

/* Fields of /proc/cpuinfo; names differ between processors. */
static const struct {
	const char *field;
	const char *key;
	bool identity;
} cpu_fields[] = {
	{"model name", "host.cpu.model", true},
	{"Hardware", "host.cpu.model", true},
	{"cpu", "host.cpu.model", true}, /* POWER */
	{"microcode", "host.cpu.microcode", false},
	{"cache size", "host.cpu.cache", false},
};

static void capture_cpu(const char *root, struct fg_environment *host)
{
	char *cpuinfo = fg_host_text(root, "/proc/cpuinfo");
	char line[LINE_SIZE];
	unsigned count = 0;

	for (size_t i = 0; cpuinfo && i < FG_ARRAY_SIZE(cpu_fields); i++) {
		if (!fg_environment_get(host, cpu_fields[i].key) &&
		    find_field(cpuinfo, cpu_fields[i].field, line, sizeof(line)))
			fg_environment_set(host, cpu_fields[i].key, line, cpu_fields[i].identity);
	}
	if (fg_host_line(root, "/sys/devices/system/cpu/online", line, sizeof(line)))
		count = fg_host_count_cpu_list(line);
	if (count > 0)
		fg_environment_printf(host, "host.cpu.count", true, "%u", count);
	if (cpuinfo && find_field(cpuinfo, "cpu cores", line, sizeof(line)))
		fg_environment_set(host, "host.cpu.cores_per_socket", line, false);
	free(cpuinfo);
}

static void capture_memory(const char *root, struct fg_environment *host)
{
	char *meminfo = fg_host_text(root, "/proc/meminfo");
	char line[LINE_SIZE];

	if (meminfo && find_field(meminfo, "MemTotal", line, sizeof(line)))
		fg_environment_printf(host, "host.memory.total", false, "%.1f GiB",
				      strtod(line, NULL) * 1024 / bytes_per_gib);
	if (meminfo && find_field(meminfo, "SwapTotal", line, sizeof(line)))
		fg_environment_printf(host, "host.memory.swap", false, "%.1f GiB",
				      strtod(line, NULL) * 1024 / bytes_per_gib);
	free(meminfo);
}

static void capture_system(const char *root, struct fg_environment *host)
{
	char *release = fg_host_text(root, "/etc/os-release");
	struct utsname names;
	char line[LINE_SIZE];
	size_t series = 0;

	if (release && find_field(release, "PRETTY_NAME", line, sizeof(line)))
		fg_environment_set(host, "host.os", line, false);
	free(release);
	if (uname(&names) == 0)
		fg_environment_set(host, "host.architecture", names.machine, true);
	if (fg_host_line(root, "/proc/sys/kernel/osrelease", line, sizeof(line)) &&
	    (series = strcspn(line, ".")) < strlen(line)) {
		series += 1 + strspn(line + series + 1, "0123456789");
		fg_environment_printf(host, "host.kernel.series", true, "%.*s", (int)series, line);
	}
}

static void capture_load(const char *root, struct fg_environment *host)
{
	const double quota = fg_host_cpu_quota(root);
	const double steal = fg_host_steal_since_boot(root);
	char line[LINE_SIZE];

	if (quota > 0)
		fg_environment_printf(host, "host.cpu.quota", true, "%.2f CPUs", quota);
	if (!isnan(steal))
		fg_environment_printf(host, "host.steal", false, "%.2f %% since boot", 100 * steal);
	if (fg_host_line(root, "/proc/loadavg", line, sizeof(line)))
		fg_environment_printf(host, "host.load", false, "%.*s", (int)strcspn(line, " "),
				      line);
}

void fg_host_capture(const char *root, struct fg_environment *host)
{
	const char *container = fg_host_container(root);
	const char *turbo = fg_host_turbo(root);

	for (size_t i = 0; i < FG_ARRAY_SIZE(line_facts); i++) {
		char line[LINE_SIZE];

		if (fg_host_line(root, line_facts[i].path, line, sizeof(line)))
			fg_environment_set(host, line_facts[i].key, line, line_facts[i].identity);
	}
	capture_cpu(root, host);
	capture_memory(root, host);
	capture_system(root, host);
	capture_load(root, host);
	fg_environment_set(host, "host.virtualization", fg_host_virtualization(root), true);
	if (container)
		fg_environment_set(host, "host.container", container, false);
	if (turbo)
		fg_environment_set(host, "host.cpu.turbo", turbo, true);
}
