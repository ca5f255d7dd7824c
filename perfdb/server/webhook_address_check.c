// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/webhook_address_check.h"

#include "perfdb/server/ranges.h"

/*
 * The special purposes that IANA registers (RFC 6890), and the ranges that carry an IPv4 address
 * inside an IPv6 one.
 */
static const char *const special[] = {
	"0.0.0.0/8",      /* this network */
	"10.0.0.0/8",     /* private */
	"100.64.0.0/10",  /* shared by a provider's customers */
	"127.0.0.0/8",    /* loopback */
	"169.254.0.0/16", /* link-local, where clouds have their metadata */
	"172.16.0.0/12",  /* private */
	"192.0.0.0/24",   /* protocol assignments */
	"192.0.2.0/24",   /* documentation */
	"192.88.99.0/24", /* 6to4 relays */
	"192.168.0.0/16", /* private */
	"198.18.0.0/15",  /* benchmarks of networks */
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", /* multicast */
	"240.0.0.0/4",                                      /* reserved, and broadcast */
	"::/96", /* unspecified, loopback, IPv4-compatible */
	"64:ff9b::/96",    "64:ff9b:1::/48", "100::/64", /* discarded */
	"2001::/23",                                     /* protocol assignments, Teredo */
	"2001:db8::/32",                                 /* documentation */
	"2002::/16",                                     /* 6to4 */
	"3fff::/20",                                     /* documentation */
	"5f00::/16",                                     /* segment routing */
	"fc00::/7",                                      /* private */
	"fe80::/10",                                     /* link-local */
	"fec0::/10",                                     /* site-local, once */
	"ff00::/8",                                      /* multicast */
};

struct fg_address_check {
	struct fg_ranges *special;
	struct fg_ranges *allowed;
};

int fg_address_check_new(const char *const *allowed, size_t count, struct fg_address_check **check,
			 struct fg_error *err)
{
	struct fg_address_check *r = fg_xcalloc(1, sizeof(*r));
	int status = fg_ranges_new(special, FG_ARRAY_SIZE(special), &r->special, err);

	*check = r;
	return status == FG_OK ? fg_ranges_new(allowed, count, &r->allowed, err) : status;
}

void fg_address_check_free(struct fg_address_check *check)
{
	if (!check)
		return;
	fg_ranges_free(check->special);
	fg_ranges_free(check->allowed);
	free(check);
}

bool fg_address_check_admits(void *context, const char *text)
{
	const struct fg_address_check *check = context;
	struct fg_address address;

	if (!fg_address_parse(text, &address))
		return false;
	return fg_ranges_have(check->allowed, &address) ||
	       !fg_ranges_have(check->special, &address);
}
