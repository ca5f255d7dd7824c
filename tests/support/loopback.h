/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets on loopback. Any error fails the running test instead of being returned. */
#ifndef FG_TESTS_SUPPORT_LOOPBACK_H
#define FG_TESTS_SUPPORT_LOOPBACK_H

#include <stdint.h>

enum {
	FG_LOOPBACK_URL_SIZE = 64
};

/* Listens on any free port; `url` becomes "http://127.0.0.1:PORT". */
int fg_loopback_listen(char url[FG_LOOPBACK_URL_SIZE]);
/* Returns a connection that waits at most 20 seconds for an answer. */
int fg_loopback_connect(uint16_t port);
/* Connects from another loopback address, such as "127.0.0.2". */
int fg_loopback_connect_from(const char *address, uint16_t port);

#endif
