/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a measurement: a project's benchmarks, the build of a side, the rules for
 * repetitions. Filled by config/ from fastgate.yml or by cli/ from a command line; read by runner/.
 * All text lives in the plan's arena. Plain data: no function here does I/O.
 */
#ifndef FG_MODEL_PLAN_H
#define FG_MODEL_PLAN_H

#include "base/arena.h"
#include "model/metric.h"
#include "model/policy.h"

struct fg_command {
	const char *text; /* as the user wrote it; for people */
	char **argv;      /* NULL-terminated; {"/bin/sh", "-c", text} if a shell was requested */
	size_t argc;      /* 0: no command */
};

struct fg_variable {
	const char *name;
	const char *value;
};

/* A user-defined fact: a literal, or the trimmed output of a command. */
struct fg_recorded_fact {
	const char *name;
	const char *literal; /* or NULL */
	struct fg_command command;
};

/*
 * A user-defined metric: a number in the program's standard output, standard error, or an output
 * file.
 */
struct fg_user_metric {
	const char *name;
	const char *unit;
	const char *regex;        /* the first group is the number; NULL: see json_pointer */
	const char *json_pointer; /* RFC 6901 */
	const char *file; /* read instead of the output; relative to the working directory */
	enum fg_better better;
	bool exact;
};

enum fg_harness {
	FG_HARNESS_NONE,
	FG_HARNESS_GOOGLE_BENCHMARK,
	FG_HARNESS_CATCH2,
	FG_HARNESS_HYPERFINE,
	FG_HARNESS_NANOBENCH,
	FG_HARNESS_DOCTEST,
	FG_HARNESS_CRITERION,
	FG_HARNESS_CARGO_BENCH,
	FG_HARNESS_PYTEST,
	FG_HARNESS_GO,
	FG_HARNESS_LIT,
	FG_HARNESS_PLAIN,
	FG_HARNESS_SMALLER_IS_BETTER,
	FG_HARNESS_BIGGER_IS_BETTER,
	FG_HARNESS_COUNT,
};

enum fg_schedule {
	FG_SCHEDULE_AUTO,
	FG_SCHEDULE_DUET,
	FG_SCHEDULE_ABBA,
	FG_SCHEDULE_STORED,
};

enum fg_sample_clock {
	FG_SAMPLE_CPU,
	FG_SAMPLE_WALL,
	FG_SAMPLE_NOTHING, /* no sampling, only counted events */
};

/* Frames of Python functions between native frames. */
enum fg_python_frames {
	FG_PYTHON_AUTO, /* for supported versions */
	FG_PYTHON_OFF,
};

/* Kernel functions below the program's functions. */
enum fg_kernel_functions {
	FG_KERNEL_AUTO, /* if the kernel may be sampled */
	FG_KERNEL_OFF,
};

struct fg_sampler {
	bool enabled;
	unsigned rate_hz; /* 0: as high as the budget allows */
	double budget;    /* share of the CPU time that sampling may cost when rate_hz is 0 */
	enum fg_sample_clock clock;
	enum fg_kernel_functions kernel;
	bool follow_children;
	const char *units; /* "FIRST-LAST": sample only these units of work; NULL: always */
	int64_t delay_ns;  /* from the start of each process to its first sample */
	bool paused;       /* wait until the program requests samples */
	enum fg_python_frames python;
	unsigned slowdown; /* millionths of CPU time to add to the candidate (prove) */
	/* share of the pairs that run without the sampler, to measure its cost */
	double unsampled_share;
};

/* The tool that counts instructions, in extra repetitions after the pairs. */
enum fg_exact_meter {
	FG_EXACT_OFF,
	FG_EXACT_AUTO, /* only to explain a regression */
	FG_EXACT_VALGRIND,
};

/* Conditions for skipping a benchmark because nothing that it executes or reads has changed. */
enum fg_affected_mode {
	FG_AFFECTED_AUTO, /* with --quick or --affected */
	FG_AFFECTED_ALWAYS,
	FG_AFFECTED_NEVER,
};

/*
 * Conditions for measuring a benchmark again with its code at other addresses
 * (runner/build/layouts.h).
 */
enum fg_layouts_mode {
	FG_LAYOUTS_AUTO, /* if links are cheap, or if the benchmark looks slower as linked */
	FG_LAYOUTS_ALWAYS,
	FG_LAYOUTS_NEVER,
};

struct fg_measuring {
	enum fg_schedule schedule;
	unsigned min_pairs;
	unsigned max_pairs;
	int64_t budget_ns; /* per benchmark */
	unsigned warmup;   /* blocks that are run first and not judged */
	bool pin;          /* pin to one CPU in abba as well */
	bool until_sure;   /* continue until decided; re-runs add evidence to an open decision */
	enum fg_layouts_mode layouts;
	enum fg_affected_mode affected;
	enum fg_exact_meter exact;
	int64_t exact_budget_ns; /* for all exact repetitions of a benchmark */
	bool exact_only;         /* no pairs: only the exact measures decide */
	const char **also;       /* names from fg_countable, counted after the pairs */
	size_t also_count;
	const char **calls; /* patterns of functions whose calls are counted after the pairs */
	size_t call_count;
	/* patterns of functions whose calls are counted and arguments recorded */
	const char **domains;
	size_t domain_count;
	bool entries; /* also count calls within an object, by patching function entries */
	struct fg_sampler sampler;
};

struct fg_benchmark {
	const char *name;
	const char *was;                    /* name in the baseline; NULL: the same */
	struct fg_command command;          /* command of the candidate */
	struct fg_command baseline_command; /* argc 0: `command` in the baseline's tree */
	const char *working_directory;      /* relative to the side's root */
	struct fg_variable *environment;
	size_t environment_count;
	const char *stdin_path;
	struct fg_command setup;   /* once, before the first repetition of an arm */
	struct fg_command prepare; /* before each repetition */
	struct fg_command cleanup; /* after each repetition */
	int64_t timeout_ns;
	int expect_exit_code;
	struct fg_user_metric *metrics;
	size_t metric_count;
	enum fg_harness harness;
	const char **cases; /* selected cases of the harness; none: all */
	size_t case_count;
	const char **labels;
	size_t label_count;
	struct fg_measuring measure; /* the plan's settings with this benchmark's overrides */
	struct fg_policy policy;     /* the plan's policy with this benchmark's overrides */
};

struct fg_build {
	struct fg_command command;
	bool in_place; /* the candidate is the work tree itself, not a snapshot */
	/* files and folders below root that the baseline takes from the candidate */
	const char **from_candidate;
	size_t from_candidate_count;
	struct fg_recorded_fact *record;
	size_t record_count;
};

enum fg_baseline_kind {
	FG_BASELINE_NONE,
	/* a ref, or "merge-base": built in a worktree and measured in the same session */
	FG_BASELINE_GIT,
	FG_BASELINE_BRANCH, /* the newest complete run stored for this branch */
	FG_BASELINE_TAG,    /* the run stored for this tag */
	FG_BASELINE_RUN,    /* a stored run, by id or by its promoted name */
	FG_BASELINE_FILE,   /* an exported run */
};

struct fg_baseline {
	enum fg_baseline_kind kind;
	const char *value;
	bool required; /* a missing baseline is exit code 3 instead of a pass with "new" */
};

struct fg_report_target {
	const char *format; /* a reporter's name */
	const char *path;   /* "-": stdout */
	bool from_file;     /* set by fastgate.yml, which is untrusted */
};

struct fg_post_target {
	const char *kind;  /* "github", "gitlab", "webhook" */
	const char *value; /* "pull-request-comment", a URL, ... */
	const char *token_env;
	bool required;
	bool from_file;     /* the destination is set by fastgate.yml */
	const char *format; /* webhook: the reporter whose report is sent; other kinds: NULL */
};

/* Templates of addresses: model/links.h. */
enum fg_web_link {
	FG_WEB_LINK_COMMIT,
	FG_WEB_LINK_FILE,
	FG_WEB_LINK_LINE,
	FG_WEB_LINK_COUNT,
};

enum fg_upload {
	FG_UPLOAD_NEVER,
	FG_UPLOAD_WHEN_POSSIBLE,
	FG_UPLOAD_REQUIRED,
};

struct fg_perfdb {
	const char *url;    /* NULL: none */
	bool url_from_file; /* set by fastgate.yml, which is untrusted */
	const char *token_env;
	const char *ca_file;
	enum fg_upload upload;
};

struct fg_plan {
	struct fg_arena arena;
	const char *project;
	const char *root;        /* folder of fastgate.yml */
	const char *config_path; /* NULL: no file was read */
	struct fg_build build;
	struct fg_benchmark *benchmarks;
	size_t benchmark_count;
	struct fg_measuring measure;
	struct fg_policy policy;
	struct fg_baseline baseline;
	struct fg_report_target *reports;
	size_t report_count;
	struct fg_post_target *posts;
	size_t post_count;
	bool hide_source;                     /* reports omit source lines */
	const char *links[FG_WEB_LINK_COUNT]; /* templates of addresses; NULL: none */
	struct fg_perfdb perfdb;
	struct fg_recorded_fact *host_record;
	size_t host_record_count;
	const char *store_path; /* default: ".fastgate/store.db" below root */
	bool store_from_file;   /* set by fastgate.yml */
};

/* Classes of events that can be counted by call path, such as "heap"; NULL-terminated. */
extern const char *const fg_countable[];
/* The classes of events that `record` accepts; NULL-terminated. */
extern const char *const fg_recordable[];

const char *fg_schedule_name(enum fg_schedule value);
bool fg_schedule_parse(const char *word, enum fg_schedule *value);
const char *fg_harness_name(enum fg_harness harness);

/* Sets the defaults of `measure`. */
void fg_measuring_defaults(struct fg_measuring *measure);
/*
 * Sets the built-in default of every key, the starting point of a command line without
 * fastgate.yml.
 */
void fg_plan_init(struct fg_plan *plan);
void fg_plan_release(struct fg_plan *plan);
bool fg_command_is_same(const struct fg_command *a, const struct fg_command *b);
/* Returns "BM_sort" of the name "suite/BM_sort" if the benchmark is that suite; else NULL. */
const char *fg_benchmark_case(const struct fg_benchmark *benchmark, const char *name);
/* Returns the benchmark of this name, or the suite whose case it names; or NULL. */
const struct fg_benchmark *fg_plan_find(const struct fg_plan *plan, const char *name);

#endif
