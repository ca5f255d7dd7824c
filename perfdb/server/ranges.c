// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/ranges.h"

#include "base/number.h"

#include <arpa/inet.h>

enum {
	MAPPED_BITS = 96 /* IPv4 addresses are kept as IPv6 ones that begin with ::ffff: */
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
			"'%.100s' is not a range of addresses: expected one like 10.0.0.0/8 or ::1",
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
