/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks out a commit into a detached git worktree, with the submodules its build may need.
 *
 * A submodule that is initialised in the main checkout is needed. It is cloned from that checkout,
 * or fetched if the checkout lacks the commit. A submodule that the main checkout lists but has not
 * initialised is not needed: the work tree builds without it. A submodule that the main checkout
 * does not list is fetched if possible.
 */
#ifndef FG_RUNNER_CHECKOUT_H
#define FG_RUNNER_CHECKOUT_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

struct fg_checkout {
	const char *top;    /* root of the main checkout */
	const char *tree;   /* the worktree's folder */
	const char *commit; /* full hash */
	bool keep; /* reuse an existing tree: change only files that differ, keep build products */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;
	/* called for each submodule left out, and before a wait for the lock; may be NULL */
	void (*on_note)(void *context, const char *note);
};

int fg_checkout_make(const struct fg_checkout *checkout, struct fg_error *err) FG_NODISCARD;
/* Prunes git's entries for work trees whose folders are gone. */
int fg_checkout_forget_removed(const char *top, struct fg_error *err) FG_NODISCARD;

#endif
