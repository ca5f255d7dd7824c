// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/observe.h"

#include "base/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

/*
 * Columns of a CPU's line in /proc/stat: user nice system idle iowait irq softirq steal. `user`
 * already includes guest time.
 */
enum {
	STAT_FIELDS = 8,
	STAT_STEAL = 7
};

static int open_below(const char *root, const char *path)
{
	char full[PATH_MAX];

	(void)snprintf(full, sizeof(full), "%s%s", root, path);
	return open(full, O_RDONLY | O_CLOEXEC);
}

void fg_observer_init(struct fg_observer *observer, const char *root)
{
	observer->stat_fd = open_below(root, "/proc/stat");
	observer->load_fd = open_below(root, "/proc/loadavg");
	observer->pressure_fd = open_below(root, "/proc/pressure/cpu");
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void fg_observer_release(struct fg_observer *observer)
{
	close_one(&observer->stat_fd);
	close_one(&observer->load_fd);
	close_one(&observer->pressure_fd);
}

/* Only the start of the file is needed: the CPU lines come first. */
static bool read_head(int fd, char *text, size_t size)
{
	const ssize_t got = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

bool fg_observe_parse_stat(const char *text, int cpu, uint64_t *stolen_ticks, uint64_t *all_ticks)
{
	char label[24];
	const char *line = text;
	uint64_t sum = 0;
	uint64_t field = 0;

	if (cpu < 0)
		(void)snprintf(label, sizeof(label), "cpu ");
	else
		(void)snprintf(label, sizeof(label), "cpu%d ", cpu);
	while (line && strncmp(line, label, strlen(label)) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return false;
	line += strlen(label);
	for (int i = 0; i < STAT_FIELDS; i++) {
		char *end = NULL;

		field = strtoull(line, &end, 10);
		if (end == line)
			return false;
		sum += field;
		line = end;
	}
	*stolen_ticks = field;
	*all_ticks = sum;
	return true;
}

static uint64_t parse_pressure(const char *text)
{
	const char *total = strstr(text, "total=");

	return strncmp(text, "some ", 5) == 0 && total ? strtoull(total + 6, NULL, 10) : UINT64_MAX;
}

void fg_observe(const struct fg_observer *observer, int cpu, struct fg_observation *observation)
{
	char text[16384];

	*observation =
		(struct fg_observation){.at_ns = fg_clock_monotonic_ns(), .load = (double)NAN};
	if (read_head(observer->stat_fd, text, sizeof(text)))
		(void)fg_observe_parse_stat(text, cpu, &observation->stolen_ticks,
					    &observation->all_ticks);
	if (read_head(observer->load_fd, text, 64))
		observation->load = strtod(text, NULL);
	observation->pressure_us =
		read_head(observer->pressure_fd, text, 256) ? parse_pressure(text) : UINT64_MAX;
}

double fg_observed_steal(const struct fg_observation *before, const struct fg_observation *after)
{
	if (!before->all_ticks || !after->all_ticks)
		return (double)NAN;
	if (after->all_ticks <= before->all_ticks)
		return 0; /* interval shorter than a tick */
	return (double)(after->stolen_ticks - before->stolen_ticks) /
	       (double)(after->all_ticks - before->all_ticks);
}

double fg_observed_pressure(const struct fg_observation *before, const struct fg_observation *after)
{
	const double wall_us = (double)(after->at_ns - before->at_ns) / FG_NS_PER_US;

	if (before->pressure_us == UINT64_MAX || after->pressure_us == UINT64_MAX || !(wall_us > 0))
		return (double)NAN;
	return (double)(after->pressure_us - before->pressure_us) / wall_us;
}
