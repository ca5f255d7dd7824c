// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/proxies.h"

#include "base/number.h"

#include <arpa/inet.h>

enum {
	ADDRESS_BYTES = 16,
	MAPPED_BITS = 96, /* IPv4 addresses are kept as IPv6 ones that begin with ::ffff: */
	HOPS_MAX = 32
};

struct address {
	uint8_t bytes[ADDRESS_BYTES];
};

struct range {
	struct address start;
	unsigned bits;
};

struct fg_proxies {
	struct range *ranges;
	size_t count;
};

static bool parse_address(const char *text, struct address *address)
{
	static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (inet_pton(AF_INET6, text, address->bytes) == 1)
		return true;
	memcpy(address->bytes, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, address->bytes + sizeof(mapped)) == 1;
}

static void format_address(const struct address *address, char text[FG_ADDRESS_TEXT_SIZE])
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
	const unsigned most = ADDRESS_BYTES * 8 - offset;
	uint64_t bits = most;
	bool is_fine = parse_address(start, &range->start);

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

int fg_proxies_new(const char *const *ranges, size_t count, struct fg_proxies **proxies,
		   struct fg_error *err)
{
	struct fg_proxies *p = fg_xcalloc(1, sizeof(*p));
	int status = FG_OK;

	p->ranges = fg_xcalloc(count + 1, sizeof(*p->ranges));
	p->count = count;
	*proxies = p;
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = parse_range(ranges[i], &p->ranges[i], err);
	return status;
}

void fg_proxies_free(struct fg_proxies *proxies)
{
	if (!proxies)
		return;
	free(proxies->ranges);
	free(proxies);
}

static bool is_within(const struct range *range, const struct address *address)
{
	for (unsigned bit = 0; bit < range->bits; bit++) {
		const uint8_t mask = (uint8_t)(0x80U >> (bit % 8));

		if ((range->start.bytes[bit / 8] ^ address->bytes[bit / 8]) & mask)
			return false;
	}
	return true;
}

static bool is_trusted(const struct fg_proxies *proxies, const struct address *address)
{
	for (size_t i = 0; i < proxies->count; i++) {
		if (is_within(&proxies->ranges[i], address))
			return true;
	}
	return false;
}

/* "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:80", quoted or not. */
static bool parse_node(const char *text, size_t size, struct address *address)
{
	char node[FG_ADDRESS_TEXT_SIZE + 10];
	char *start = node;
	char *end = NULL;

	if (size >= 2 && text[0] == '"' && text[size - 1] == '"') {
		text++;
		size -= 2;
	}
	if (size >= sizeof(node))
		return false;
	memcpy(node, text, size);
	node[size] = '\0';
	if (*start == '[') {
		end = strchr(++start, ']');
		if (!end)
			return false;
	} else if (strchr(start, ':') && strchr(start, ':') == strrchr(start, ':')) {
		end = strchr(start, ':');
	}
	if (end)
		*end = '\0';
	return parse_address(start, address);
}

/* The node that one hop of a Forwarded header names: for=NODE;proto=https;by=... */
static bool parse_forwarded(const char *text, size_t size, struct address *address)
{
	while (size > 0) {
		const char *semicolon = memchr(text, ';', size);
		size_t length = semicolon ? (size_t)(semicolon - text) : size;
		const size_t step = semicolon ? length + 1 : length;
		const char *pair = text;

		while (length > 0 && (*pair == ' ' || *pair == '\t')) {
			pair++;
			length--;
		}
		if (length > 4 && strncasecmp(pair, "for=", 4) == 0)
			return parse_node(pair + 4, length - 4, address);
		text += step;
		size -= step;
	}
	return false;
}

typedef bool parse_hop(const char *text, size_t size, struct address *address);

/*
 * From the right: the first address that is no trusted proxy.  False: the list breaks off before.
 */
static bool read_list(const struct fg_proxies *proxies, const char *list, parse_hop *parse,
		      struct address *client)
{
	const char *end = list + strlen(list);

	for (int hop = 0; hop < HOPS_MAX; hop++) {
		const char *start = end;
		size_t size = 0;

		while (start > list && start[-1] != ',')
			start--;
		size = (size_t)(end - start);
		while (size > 0 && (*start == ' ' || *start == '\t')) {
			start++;
			size--;
		}
		while (size > 0 && (start[size - 1] == ' ' || start[size - 1] == '\t'))
			size--;
		if (!parse(start, size, client))
			return false;
		if (!is_trusted(proxies, client))
			return true;
		while (start > list && start[-1] != ',')
			start--;
		if (start == list)
			return true; /* trusted all the way: the leftmost asked */
		end = start - 1;
	}
	return false;
}

bool fg_proxies_trust(const struct fg_proxies *proxies, const char *peer)
{
	struct address address;

	return parse_address(peer, &address) && is_trusted(proxies, &address);
}

void fg_proxies_client(const struct fg_proxies *proxies, const char *peer, const char *forwarded,
		       const char *x_forwarded_for, char client[FG_ADDRESS_TEXT_SIZE])
{
	struct address address;
	struct address named[2];
	bool is_named[2] = {false, false};

	(void)snprintf(client, FG_ADDRESS_TEXT_SIZE, "%s", peer);
	if (!parse_address(peer, &address))
		return;
	format_address(&address, client);
	if (!is_trusted(proxies, &address))
		return;
	if (forwarded)
		is_named[0] = read_list(proxies, forwarded, parse_forwarded, &named[0]);
	if (x_forwarded_for)
		is_named[1] = read_list(proxies, x_forwarded_for, parse_node, &named[1]);
	if (forwarded && x_forwarded_for &&
	    (!is_named[0] || !is_named[1] || memcmp(&named[0], &named[1], sizeof(address)) != 0))
		return;
	if (is_named[0] || is_named[1])
		format_address(is_named[0] ? &named[0] : &named[1], client);
}
