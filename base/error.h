/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reason why a call failed, in words that a user can act on.
 *
 * A function that can fail returns an int (FG_OK or a negative enum fg_status) and takes a `struct
 * fg_error *err` last.  The object lives on the caller's stack, is filled only on failure, and may
 * be NULL. The message is one line without a full stop: what was found, what was expected, and
 * where (`file:line:column` for input).  It is written where the error is found; a caller at a
 * boundary may put its context in front with fg_error_prefix().  Only cli/ and perfdb/server print
 * it.
 */
#ifndef FG_BASE_ERROR_H
#define FG_BASE_ERROR_H

#include "base/attrs.h"

enum fg_status {
	FG_OK = 0,
	FG_EINVAL = -1,        /* an invalid value */
	FG_ENOENT = -2,        /* does not exist */
	FG_EIO = -3,           /* the system refused to read or write */
	FG_EPARSE = -4,        /* input that does not follow its format */
	FG_ELIMIT = -5,        /* a limit was exceeded */
	FG_ETIMEOUT = -6,      /* took too long */
	FG_ECHILD = -7,        /* a child program failed */
	FG_EDB = -8,           /* the store failed */
	FG_ENET = -9,          /* the network or the server failed */
	FG_EUNSUPPORTED = -10, /* not possible on this host or in this build */
	FG_EINTERRUPTED = -11, /* the user asked to stop */
	FG_ECONFLICT = -12,    /* already exists, or is ambiguous */
	FG_EBUSY = -13,        /* locked by another process; may succeed later */
};

/* Returns the status of `call` if it fails. Use it only where nothing has to be freed. */
#define FG_TRY(call)                \
 do {                               \
  const int fg_try_status = (call); \
  if (fg_try_status != FG_OK)       \
   return fg_try_status;            \
 } while (0)

/* Stores the result in `status`. If the call failed, goes to `out`, which releases resources. */
#define FG_TRY_OUT(call) \
 do {                    \
  status = (call);       \
  if (status != FG_OK)   \
   goto out;             \
 } while (0)

#define FG_ERROR_MESSAGE_SIZE 512

struct fg_error {
	enum fg_status code;
	char message[FG_ERROR_MESSAGE_SIZE];
};

/* Returns `code`, so that a caller can write `return fg_error_set(err, FG_EPARSE, ...)`. */
int fg_error_set(struct fg_error *err, enum fg_status code, const char *format, ...)
	FG_PRINTF(3, 4);
/* Like fg_error_set(), with ": " and the text of errno at the end. Keeps errno. */
int fg_error_errno(struct fg_error *err, enum fg_status code, const char *format, ...)
	FG_PRINTF(3, 4);
/* Puts "text: " in front of a message that is already set. */
void fg_error_prefix(struct fg_error *err, const char *format, ...) FG_PRINTF(2, 3);

#endif
