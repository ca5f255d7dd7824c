/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an alert to the web address that its rule names. */
#ifndef FG_PERFDB_DELIVERY_DELIVERY_H
#define FG_PERFDB_DELIVERY_DELIVERY_H

#include "perfdb/client/http.h"

enum {
	FG_WEBHOOK_URL_MAX = 2000,
};

enum fg_delivery_result {
	FG_DELIVERY_DONE,
	FG_DELIVERY_LATER, /* may succeed at another try */
	FG_DELIVERY_NEVER, /* the other end, or this server, does not take it */
};

struct fg_delivery_options {
	const char *ca_file;    /* NULL: the system's certificates */
	fg_http_admits *admits; /* of addresses that webhooks may be sent to */
	void *context;          /* of `admits` */
	bool allows_plain;      /* webhooks may be http:// */
};

struct fg_delivery {
	int64_t number;
	const char *target; /* a URL */
	const char *secret; /* NULL: not signed */
	const char *body;   /* JSON */
};

/* FG_EINVAL with the reason: nothing could ever be sent there. */
int fg_webhook_check(const struct fg_delivery_options *options, const char *url,
		     struct fg_error *err) FG_NODISCARD;
/*
 * POSTs the body.  The header X-Perfdb-Signature-256 has "sha256=" and the HMAC-SHA256 of the body
 * with the secret as key, X-Perfdb-Delivery the number.  No redirection is followed; the other end
 * has ten seconds.  `err` says why it was not done.
 */
enum fg_delivery_result fg_webhook_send(const struct fg_delivery_options *options,
					const struct fg_delivery *delivery, int64_t *wait_ns,
					struct fg_error *err);

#endif
