/* SPDX-License-Identifier: Apache-2.0 */
/* Network addresses and ranges of addresses. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_RANGES_H
#define FG_PERFDB_SERVER_RANGES_H

#include "base/base.h"
#include "base/error.h"

enum {
	FG_ADDRESS_BYTES = 16,
	FG_ADDRESS_TEXT_SIZE = 46
};

/* An IPv6 address; an IPv4 address is stored with the prefix ::ffff: */
struct fg_address {
	uint8_t bytes[FG_ADDRESS_BYTES];
};

struct fg_ranges;

bool fg_address_parse(const char *text, struct fg_address *address);
void fg_address_format(const struct fg_address *address, char text[FG_ADDRESS_TEXT_SIZE]);

/*
 * Is the address outside all special-purpose ranges of IANA (RFC 6890): local, private, reserved?
 */
bool fg_address_is_public(const struct fg_address *address);

/* `texts` are addresses or CIDR blocks, like 10.0.0.0/8 or ::1. *ranges is set even on failure. */
int fg_ranges_new(const char *const *texts, size_t count, struct fg_ranges **ranges,
		  struct fg_error *err) FG_NODISCARD;
void fg_ranges_free(struct fg_ranges *ranges); /* NULL is fine */
bool fg_ranges_have(const struct fg_ranges *ranges, const struct fg_address *address);

#endif
