/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c, one byte at a time: records are a dozen bytes long, and a table of 1 KiB stays in the
 * cache.
 */
#ifndef FG_COLLECTOR_CRC32C_H
#define FG_COLLECTOR_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Call once, before the first use. */
void fg_crc32c_init(void);
/* Continues `crc` (0 to start) over more bytes. */
uint32_t fg_trace_crc32c(uint32_t crc, const void *data, size_t size);

#endif
