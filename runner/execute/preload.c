// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/preload.h"

#include "base/fs.h"
#include "collector/sampler/collector_env.h"
#include "runner/facts/program_file.h"
#include "runner/installed.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	SCRIPT_DEPTH_MAX = 4
};

int fg_preload_library(char **library, struct fg_error *err)
{
	const char *named = getenv("FASTGATE_COLLECTOR");
	char *found =
		named && *named ? realpath(named, NULL) : fg_installed_find(FG_COLLECTOR_LIBRARY);

	if (!found)
		return fg_error_set(err, FG_ENOENT, "the collector library is missing: %s",
				    named && *named ? named : FG_COLLECTOR_LIBRARY);
	*library = found;
	return FG_OK;
}

static int find_library(const char *library, const char *name, const char *what, char **found,
			struct fg_error *err)
{
	char *folder = fg_fs_parent(library);
	char *path = fg_fs_join(folder, name);
	int status = FG_OK;

	*found = NULL;
	if (fg_fs_exists(path))
		*found = fg_xstrdup(path);
	else
		status = fg_error_set(err, FG_ENOENT, "the library that counts %s is missing: %s",
				      what, path);
	free(path);
	free(folder);
	return status;
}

int fg_preload_counting_library(const char *library, char **counting, struct fg_error *err)
{
	return find_library(library, FG_COLLECTOR_COUNTING_LIBRARY, "events", counting, err);
}

int fg_preload_calls_library(const char *library, char **calls, struct fg_error *err)
{
	return find_library(library, FG_COLLECTOR_CALLS_LIBRARY, "calls", calls, err);
}

/* ---- can the program be sampled ---- */

static int check_rights(const char *program, const struct stat *status, struct fg_error *err)
{
	char capabilities[64];

	if ((status->st_mode & S_ISUID) && status->st_uid != geteuid())
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s is set-user-id: the system starts it without the collector; "
			"run fastgate as the owner of the program",
			program);
	if ((status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP) &&
	    status->st_gid != getegid())
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s is set-group-id: the system starts it without the collector; run "
			"fastgate with the group of the program",
			program);
	if (geteuid() != 0 &&
	    getxattr(program, "security.capability", capabilities, sizeof(capabilities)) > 0)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s has file capabilities: the system starts it without the collector; "
			"measure a copy, or run fastgate as root",
			program);
	return FG_OK;
}

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} known[] = {
		{EM_386, "32-bit x86"}, {EM_X86_64, "x86-64"},       {EM_AARCH64, "arm64"},
		{EM_ARM, "32-bit ARM"}, {EM_RISCV, "RISC-V"},        {EM_PPC64, "POWER"},
		{EM_S390, "IBM Z"},     {EM_LOONGARCH, "LoongArch"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(known); i++)
		if (known[i].machine == machine)
			return known[i].name;
	return "an unknown machine";
}

static int check_machine(const char *program, const struct fg_program_file *elf,
			 const char *library, struct fg_error *err)
{
	struct fg_program_file ours;

	FG_TRY(fg_program_file_read(library, &ours, err));
	if (elf->machine == ours.machine)
		return FG_OK;
	if (elf->machine != EM_386 || ours.machine != EM_X86_64)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s is for %s, but the collector is for %s: build the program for %s, or "
			"measure it on %s hardware",
			program, machine_name(elf->machine), machine_name(ours.machine),
			machine_name(ours.machine), machine_name(elf->machine));
	if (elf->is_musl)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s is a 32-bit program linked with musl, for which there is no "
			"collector: build the program for %s",
			program, machine_name(ours.machine));
	return FG_OK;
}

static int check_elf(const char *program, const struct fg_program_file *elf, const char *library,
		     struct fg_error *err)
{
	if (!elf->is_dynamic)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s is linked statically: nothing can be preloaded into it, so link the "
			"program dynamically",
			program);
	if (elf->sanitizer)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s is built with %s: its figures would be meaningless, and it does not "
			"start with a preloaded library",
			program, elf->sanitizer);
	return check_machine(program, elf, library, err);
}

/* Older kernels lack memory that is wiped on fork, and parts of perf that the collector uses. */
static int check_kernel(struct fg_error *err)
{
	enum {
		MAJOR = 4,
		MINOR = 14,
	};
	struct utsname kernel;
	unsigned long major = 0;
	unsigned long minor = 0;
	char *rest = NULL;

	if (uname(&kernel) != 0)
		return FG_OK;
	major = strtoul(kernel.release, &rest, 10);
	minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
	if (major > MAJOR || (major == MAJOR && minor >= MINOR))
		return FG_OK;
	return fg_error_set(err, FG_EUNSUPPORTED,
			    "this kernel is Linux %s: sampling a program needs %d.%d or newer",
			    kernel.release, MAJOR, MINOR);
}

static int check_executable(const char *program, const struct stat *status, struct fg_error *err)
{
	struct statvfs about;

	if (access(program, X_OK) == 0)
		return FG_OK;
	if (status->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) && statvfs(program, &about) == 0 &&
	    about.f_flag & ST_NOEXEC)
		return fg_error_set(
			err, FG_EINVAL,
			"%s is on a file system that is mounted noexec: copy the program to "
			"another file system",
			program);
	return fg_error_set(err, FG_EINVAL, "%s is not executable", program);
}

static int check_program(const char *program, const char *library, unsigned depth,
			 struct fg_error *err)
{
	struct stat status;
	struct fg_program_file elf;
	int result;

	if (stat(program, &status) != 0)
		return fg_error_errno(err, FG_ENOENT, "%s", program);
	if (!S_ISREG(status.st_mode))
		return fg_error_set(err, FG_EINVAL, "%s is not a program", program);
	FG_TRY(check_executable(program, &status, err));
	FG_TRY(fg_program_file_read(program, &elf, err));
	if (elf.interpreter[0]) {
		if (depth >= SCRIPT_DEPTH_MAX)
			return fg_error_set(err, FG_EINVAL, "%s: too many nested scripts", program);
		return check_program(elf.interpreter, library, depth + 1, err);
	}
	if (!elf.is_elf)
		return FG_OK; /* a shell runs the file, or starting it reports the error */
	result = check_rights(program, &status, err);
	return result != FG_OK ? result : check_elf(program, &elf, library, err);
}

int fg_preload_check(const char *program, const char *library, struct fg_error *err)
{
	const int status = check_kernel(err);

	return status != FG_OK ? status : check_program(program, library, 0, err);
}

/* ---- the environment ---- */

bool fg_preload_units_valid(const char *units)
{
	char *end = NULL;

	if (*units < '0' || *units > '9')
		return false;
	const unsigned long long first = strtoull(units, &end, 10);

	if (*end != '-' || end[1] < '0' || end[1] > '9')
		return false;
	const unsigned long long last = strtoull(end + 1, &end, 10);

	return *end == '\0' && last >= first;
}

bool fg_preload_is_outside(const char *program)
{
	struct fg_program_file file;
	struct stat status;

	return stat(program, &status) == 0 && check_rights(program, &status, NULL) == FG_OK &&
	       fg_program_file_read(program, &file, NULL) == FG_OK && file.is_elf &&
	       !file.is_dynamic;
}

/*
 * Is $LIB "lib64" for 64-bit programs here, as on Red Hat? Then it is "lib" for 32-bit programs,
 * whereas "lib" on Arch is for 64-bit programs.
 */
static bool has_lib64(void)
{
	char *loader = realpath("/lib64/ld-linux-x86-64.so.2", NULL);
	char *folder = loader ? fg_fs_parent(loader) : NULL;
	const bool found = folder && strcmp(fg_fs_base_name(folder), "lib64") == 0;

	free(folder);
	free(loader);
	return found;
}

/* With $LIB in the path, the dynamic linker of a 32-bit program picks the 32-bit library. */
static char *for_both_widths(const char *library)
{
	const char *slash = strrchr(library, '/');
	const int size = slash ? (int)(slash - library) : 0;
	char *narrow = fg_xasprintf("%.*s/lib32%s", size, library, slash ? slash : "");
	char *path = slash && fg_fs_exists(narrow)
			     ? fg_xasprintf("%.*s/%s$LIB%s", size, library,
					    has_lib64() ? "multilib/" : "", slash)
			     : fg_xstrdup(library);

	free(narrow);
	return path;
}

struct variables {
	char **list;
	size_t count, capacity;
};

static void add(struct variables *variables, char *text)
{
	FG_APPEND(variables->list, variables->count, variables->capacity) = text;
}

static void add_number(struct variables *variables, const char *name, uint64_t value)
{
	if (value)
		add(variables, fg_xasprintf("%s=%" PRIu64, name, value));
}

static void add_text(struct variables *variables, const char *name, const char *value)
{
	if (value)
		add(variables, fg_xasprintf("%s=%s", name, value));
}

char **fg_preload_variables(const struct fg_preload *preload, char *const *environment)
{
	static const char *const clocks[] = {
		[FG_SAMPLE_CPU] = "cpu",
		[FG_SAMPLE_WALL] = "wall",
		[FG_SAMPLE_NOTHING] = "none",
	};
	struct variables all = {0};
	const char *others = fg_variable_get(environment, "LD_PRELOAD");
	char *library = for_both_widths(preload->library);

	add(&all, fg_xasprintf("LD_PRELOAD=%s%s%s", library, others && *others ? ":" : "",
			       others ? others : ""));
	free(library);
	add_text(&all, FG_ENV_OUTPUT, preload->trace_folder);
	add_text(&all, FG_ENV_CLOCK, clocks[preload->clock]);
	add_text(&all, FG_ENV_KERNEL, preload->kernel == FG_KERNEL_OFF ? "off" : NULL);
	add_number(&all, FG_ENV_PERIOD, preload->period_ns);
	add_number(&all, FG_ENV_BUDGET, (uint64_t)(preload->budget * 1e6 + 0.5));
	add_text(&all, FG_ENV_SLOWDOWN, preload->slowdown);
	add_number(&all, FG_ENV_ONLY, preload->follow_children ? 0 : (uint64_t)getpid());
	add_number(&all, FG_ENV_DELAY, preload->delay_ms);
	add_number(&all, FG_ENV_DURATION, preload->duration_ms);
	add_text(&all, FG_ENV_COUNT, preload->counters);
	add_text(&all, FG_ENV_UNITS, preload->units);
	add_text(&all, FG_ENV_CONTROL, preload->control);
	add_number(&all, FG_ENV_DUMP_SIGNAL, (uint64_t)preload->dump_signal);
	add_text(&all, FG_ENV_CALLS, preload->calls);
	add_text(&all, FG_ENV_DOMAINS, preload->domains);
	add_text(&all, FG_ENV_ENTRIES, preload->entries);
	add_text(&all, FG_ENV_CALL_TIMES, preload->call_times ? "1" : NULL);
	add_number(&all, FG_ENV_VALUES, preload->values);
	add_number(&all, FG_ENV_VALUES_BITS, preload->value_bits);
	add_text(&all, FG_ENV_PAUSED, preload->paused ? "1" : NULL);
	add_text(&all, FG_ENV_PYTHON, preload->no_python ? "off" : NULL);
	/* Programs instrumented with the ITT API load their collector from this variable. */
	if (!fg_variable_get(environment, "INTEL_LIBITTNOTIFY64"))
		add_text(&all, "INTEL_LIBITTNOTIFY64", preload->library);
	add(&all, NULL);
	return all.list;
}

void fg_preload_warm(void)
{
	static int kept = -1;
	struct perf_event_attr attr;

	if (kept >= 0)
		return;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	kept = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    (unsigned long)PERF_FLAG_FD_CLOEXEC);
}
