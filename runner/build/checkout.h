/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A commit into a git worktree without a branch, with the submodules that its build can need.
 *
 * A submodule that is initialised in the main checkout is needed, and cloned from there: no
 * network. One that is known there and not initialised is not needed: the work tree builds without
 * it.  One that the main checkout does not know (any more) is fetched if possible.
 */
#ifndef FG_RUNNER_CHECKOUT_H
#define FG_RUNNER_CHECKOUT_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

struct fg_checkout {
	const char *top;    /* of the main checkout */
	const char *tree;   /* the worktree's folder */
	const char *commit; /* full hash */
	bool keep; /* the tree is there: change only files that differ, keep what was built */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;
	void (*on_note)(void *context, const char *note); /* what was left out; may be NULL */
};

int fg_checkout_make(const struct fg_checkout *checkout, struct fg_error *err) FG_NODISCARD;
/*
 * Can it be made? Looks, without changing anything, whether each needed submodule of `commit` is
 * there or within reach. FG_ECHILD: one is not.
 */
int fg_checkout_check(const struct fg_checkout *checkout, struct fg_error *err) FG_NODISCARD;
/* git's entries of work trees whose folders are gone. */
int fg_checkout_forget_removed(const char *top, struct fg_error *err) FG_NODISCARD;

#endif
