// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "perfdb/server/connections.h"
#include "perfdb/server/guard.h"
#include "perfdb/server/routes.h"
#include "perfdb/server/server_private.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

enum {
	IO_THREADS = 2, /* threads that only move bytes */
	CONNECTIONS = FG_LISTEN_CONNECTIONS,
	CONNECTIONS_OF_ONE = 2048, /* maximum number per address, if addresses are known */
	IDLE_SECONDS = 30
};

const char *fg_listen_address(const struct fg_server_options *options)
{
	return options->address ? options->address : "127.0.0.1";
}

bool fg_listen_is_loopback(const struct fg_server_options *options)
{
	const char *address = fg_listen_address(options);

	return fg_text_starts_with(address, "127.") || strcmp(address, "::1") == 0 ||
	       strcmp(address, "localhost") == 0;
}

static int make_address(const struct fg_server_options *options, struct sockaddr_storage *storage,
			struct fg_error *err)
{
	const char *address = fg_listen_address(options);
	struct sockaddr_in *four = (struct sockaddr_in *)storage;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)storage;

	if (strcmp(address, "localhost") == 0)
		address = "127.0.0.1";
	if (inet_pton(AF_INET, address, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(options->port);
		return FG_OK;
	}
	if (inet_pton(AF_INET6, address, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(options->port);
		return FG_OK;
	}
	return fg_error_set(
		err, FG_EINVAL,
		"'%s' is not an address to listen on: expected an address like 127.0.0.1, "
		"0.0.0.0 or ::1",
		address);
}

/*
 * While the server stops, new connections are refused and clients retry. MHD_quiesce_daemon() is
 * meant for this, but it races with the pool's threads: both remove the listening socket from an
 * epoll set, and libmicrohttpd ends the process if the second removal fails.
 */
static enum MHD_Result accept_client(void *context, const struct sockaddr *address, socklen_t size)
{
	const struct fg_server *server = context;

	(void)address;
	(void)size;
	return atomic_load(&server->draining) ? MHD_NO : MHD_YES;
}

/*
 * Priority string for GnuTLS: TLS 1.2 or later, with forward secrecy and authenticated encryption.
 */
static char ciphers[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-MAC-ALL:+AEAD:-RSA";

/*
 * Replaces libmicrohttpd's own function, whose result would end at %00: turns %00 into U+0001,
 * which fg_guard_shape() refuses.
 */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context;
	(void)connection;
	for (char *at = text; (at = strstr(at, "%00")) != NULL;)
		at[2] = '0' + FG_GUARD_NUL;
	return MHD_http_unescape(text);
}

/* The portable build has no TLS: GnuTLS cannot be linked statically. */
static int offer_tls(const struct fg_server *server, unsigned *flags, struct MHD_OptionItem tls[3],
		     struct fg_error *err)
{
	if (!server->certificate)
		return FG_OK;
	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"this perfdb was built without TLS: put a proxy that terminates TLS in "
			"front of it and pass --behind-proxy, or use a dynamically linked perfdb");
	*flags |= MHD_USE_TLS;
	tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, server->certificate};
	tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, server->key};
	tls[2] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, ciphers};
	return FG_OK;
}

int fg_listen_start(struct fg_server *server, struct fg_error *err)
{
	struct sockaddr_storage address = {0};
	const union MHD_DaemonInfo *info = NULL;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[] = {{.option = MHD_OPTION_END},
				       {.option = MHD_OPTION_END},
				       {.option = MHD_OPTION_END},
				       {.option = MHD_OPTION_END}};

	FG_TRY(make_address(&server->options, &address, err));
	FG_TRY(offer_tls(server, &flags, tls, err));
	if (address.ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	server->routes = fg_routes;
	server->route_count = fg_route_count;
	server->daemon = MHD_start_daemon(
		flags, server->options.port, accept_client, server, fg_http_access, server,
		MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_THREAD_POOL_SIZE,
		(unsigned)IO_THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		server->options.behind_proxy ? 0U : (unsigned)CONNECTIONS_OF_ONE,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
		MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_NOTIFY_COMPLETED,
		fg_http_completed, server, MHD_OPTION_NOTIFY_CONNECTION, fg_connections_notice,
		server->connections, MHD_OPTION_URI_LOG_CALLBACK, fg_http_line, server,
		MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_ARRAY, tls,
		MHD_OPTION_END);
	if (!server->daemon)
		return fg_error_errno(err, FG_ENET, "cannot listen on %s port %d%s",
				      fg_listen_address(&server->options), server->options.port,
				      server->certificate ? " with these TLS files" : "");
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	server->port = info ? info->port : server->options.port;
	return FG_OK;
}
