/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds causes of noise in measurements on this host and limits of the sampler. Each finding is a
 * row of a table in doctor.c, with the evidence and a command that helps.
 */
#ifndef FG_RUNNER_DOCTOR_H
#define FG_RUNNER_DOCTOR_H

#include "base/base.h"
#include "model/plan.h"

enum fg_severity {
	FG_SEVERITY_OK,
	FG_SEVERITY_NOTE,    /* good to know */
	FG_SEVERITY_WARNING, /* adds noise or hides something */
	FG_SEVERITY_PROBLEM, /* something will not work */
};

struct fg_finding {
	const char *id; /* "governor": stable, for scripts */
	/* "frequency governor", or a benchmark's name, borrowed from the plan */
	const char *subject;
	enum fg_severity severity;
	char *evidence;      /* the observed value or state */
	const char *meaning; /* NULL if all is well */
	const char *remedy;  /* a command or a setting; NULL: nothing to do */
};

struct fg_diagnosis {
	struct fg_finding *items;
	size_t count;
	size_t capacity;
};

/*
 * Checks the host below `root` ("" for this host). A fact that the host does not reveal gives no
 * finding.
 */
void fg_doctor_host(const char *root, struct fg_diagnosis *diagnosis);
/*
 * Checks the facilities that this process can use (perf, CPUs, the collector library, git), and
 * whether it runs on a hosted runner.
 */
void fg_doctor_process(struct fg_diagnosis *diagnosis);
/* Checks a benchmark's program: present, optimised, with debug information, samplable. */
void fg_doctor_benchmark(const struct fg_benchmark *benchmark, const char *root,
			 struct fg_diagnosis *diagnosis);

const char *fg_severity_name(enum fg_severity severity); /* "ok", "note", "warning", "problem" */
enum fg_severity fg_diagnosis_worst(const struct fg_diagnosis *diagnosis);
void fg_diagnosis_release(struct fg_diagnosis *diagnosis);

#endif
