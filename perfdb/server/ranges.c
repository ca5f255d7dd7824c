// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/ranges.h"

#include "base/number.h"

#include <arpa/inet.h>

enum {
	MAPPED_BITS = 96 /* IPv4 addresses are stored as IPv6 addresses that begin with ::ffff: */
};

struct range {
	struct fg_address start;
	unsigned bits;
};

struct fg_ranges {
	struct range *items;
	size_t count;
};

bool fg_address_parse(const char *text, struct fg_address *address)
{
	static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (inet_pton(AF_INET6, text, address->bytes) == 1)
		return true;
	memcpy(address->bytes, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, address->bytes + sizeof(mapped)) == 1;
}

void fg_address_format(const struct fg_address *address, char text[FG_ADDRESS_TEXT_SIZE])
{
	struct in6_addr six;

	memcpy(&six, address->bytes, sizeof(six));
	if (IN6_IS_ADDR_V4MAPPED(&six))
		(void)inet_ntop(AF_INET, address->bytes + MAPPED_BITS / 8, text,
				FG_ADDRESS_TEXT_SIZE);
	else
		(void)inet_ntop(AF_INET6, address->bytes, text, FG_ADDRESS_TEXT_SIZE);
}

static int parse_range(const char *text, struct range *range, struct fg_error *err)
{
	const char *slash = strchr(text, '/');
	char *start = fg_xstrndup(text, slash ? (size_t)(slash - text) : strlen(text));
	const unsigned offset = strchr(start, ':') ? 0 : MAPPED_BITS;
	const unsigned most = FG_ADDRESS_BYTES * 8 - offset;
	uint64_t bits = most;
	bool is_fine = fg_address_parse(start, &range->start);

	if (slash)
		is_fine = is_fine && fg_parse_uint64(slash + 1, &bits, NULL) == FG_OK;
	free(start);
	if (!is_fine || bits > most)
		return fg_error_set(
			err, FG_EINVAL,
			"'%.100s' is not a range of addresses: expected a range like 10.0.0.0/8 "
			"or ::1",
			text);
	range->bits = offset + (unsigned)bits;
	return FG_OK;
}

int fg_ranges_new(const char *const *texts, size_t count, struct fg_ranges **ranges,
		  struct fg_error *err)
{
	struct fg_ranges *p = fg_xcalloc(1, sizeof(*p));
	int status = FG_OK;

	p->items = fg_xcalloc(count + 1, sizeof(*p->items));
	p->count = count;
	*ranges = p;
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = parse_range(texts[i], &p->items[i], err);
	return status;
}

void fg_ranges_free(struct fg_ranges *ranges)
{
	if (!ranges)
		return;
	free(ranges->items);
	free(ranges);
}

static bool is_within(const struct range *range, const struct fg_address *address)
{
	for (unsigned bit = 0; bit < range->bits; bit++) {
		const uint8_t mask = (uint8_t)(0x80U >> (bit % 8));

		if ((range->start.bytes[bit / 8] ^ address->bytes[bit / 8]) & mask)
			return false;
	}
	return true;
}

bool fg_ranges_have(const struct fg_ranges *ranges, const struct fg_address *address)
{
	for (size_t i = 0; i < ranges->count; i++) {
		if (is_within(&ranges->items[i], address))
			return true;
	}
	return false;
}

/*
 * Special-purpose ranges registered by IANA (RFC 6890), and ranges of IPv6 addresses that embed an
 * IPv4 address.
 */
static const char *const special[] = {
	"0.0.0.0/8",                         /* this network */
	"10.0.0.0/8",                        /* private */
	"100.64.0.0/10",                     /* shared by customers of one provider */
	"127.0.0.0/8",                       /* loopback */
	"169.254.0.0/16",                    /* link-local, used by clouds for their metadata */
	"172.16.0.0/12",                     /* private */
	"192.0.0.0/24",                      /* protocol assignments */
	"192.0.2.0/24",                      /* documentation */
	"192.88.99.0/24",                    /* 6to4 relays */
	"192.168.0.0/16",                    /* private */
	"198.18.0.0/15",                     /* network benchmarks */
	"198.51.100.0/24", "203.0.113.0/24", /* documentation */
	"224.0.0.0/4",                       /* multicast */
	"240.0.0.0/4",                       /* reserved, and broadcast */
	"::/96",                             /* unspecified, loopback, IPv4-compatible */
	"64:ff9b::/96",    "64:ff9b:1::/48", "100::/64", /* NAT64, discard-only */
	"2001::/23",                                     /* protocol assignments, Teredo */
	"2001:db8::/32",                                 /* documentation */
	"2002::/16",                                     /* 6to4 */
	"3fff::/20",                                     /* documentation */
	"5f00::/16",                                     /* segment routing */
	"fc00::/7",                                      /* private */
	"fe80::/10",                                     /* link-local */
	"fec0::/10",                                     /* site-local, deprecated */
	"ff00::/8",                                      /* multicast */
};

bool fg_address_is_public(const struct fg_address *address)
{
	bool is_special = false;

	for (size_t i = 0; i < FG_ARRAY_SIZE(special) && !is_special; i++) {
		struct range range;

		is_special = parse_range(special[i], &range, NULL) != FG_OK ||
			     is_within(&range, address);
	}
	return !is_special;
}
