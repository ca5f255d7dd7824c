/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads over one connection to a local server, more cheaply than a real client, which would
 * compete for the CPUs under test.
 */
#ifndef FG_BENCH_PERFDB_SENDER_H
#define FG_BENCH_PERFDB_SENDER_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdint.h>

#define FG_BENCH_SECRET "0123456789abcdef" /* the server's secret, used instead of tokens */

struct fg_bench_sender {
	int socket;
	char answer[8192]; /* last answer, as text */
};

int fg_bench_sender_open(struct fg_bench_sender *sender, uint16_t port, struct fg_error *err)
	FG_NODISCARD;
/* Waits for the answer and returns its status. */
int fg_bench_sender_upload(struct fg_bench_sender *sender, const struct fg_strbuf *body,
			   int *status, struct fg_error *err) FG_NODISCARD;
void fg_bench_sender_close(struct fg_bench_sender *sender);

#endif
