/* SPDX-License-Identifier: Apache-2.0 */
/* Format of an archive, for archive_write.c and archive_read.c. */
#ifndef FG_EXCHANGE_ARCHIVE_FORMAT_H
#define FG_EXCHANGE_ARCHIVE_FORMAT_H

#define FG_ARCHIVE_SCHEMA      "fastgate-archive/1"
#define FG_ARCHIVE_MANIFEST    "manifest.json" /* the first file */
#define FG_ARCHIVE_TRACES      "traces"
#define FG_ARCHIVE_TOTAL_BYTES (UINT64_C(8) << 30)

enum {
	FG_ARCHIVE_MANIFEST_BYTES = 32 << 20,
	FG_ARCHIVE_FILES = 100000,
};

#endif
