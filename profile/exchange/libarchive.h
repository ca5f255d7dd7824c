/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive's functions, once it has been opened. */
#ifndef FG_EXCHANGE_LIBARCHIVE_H
#define FG_EXCHANGE_LIBARCHIVE_H

#include "base/error.h"

#include <archive.h>
#include <archive_entry.h>

#define FG_LIBARCHIVE_CALLS(CALL)    \
 CALL(entry_filetype)                \
 CALL(entry_free)                    \
 CALL(entry_hardlink)                \
 CALL(entry_new)                     \
 CALL(entry_pathname)                \
 CALL(entry_set_filetype)            \
 CALL(entry_set_mtime)               \
 CALL(entry_set_pathname)            \
 CALL(entry_set_perm)                \
 CALL(entry_set_size)                \
 CALL(entry_size)                    \
 CALL(entry_size_is_set)             \
 CALL(entry_sparse_count)            \
 CALL(entry_symlink)                 \
 CALL(error_string)                  \
 CALL(read_data)                     \
 CALL(read_free)                     \
 CALL(read_new)                      \
 CALL(read_next_header)              \
 CALL(read_open_filename)            \
 CALL(read_support_filter_zstd)      \
 CALL(read_support_format_tar)       \
 CALL(write_add_filter_zstd)         \
 CALL(write_close)                   \
 CALL(write_data)                    \
 CALL(write_free)                    \
 CALL(write_header)                  \
 CALL(write_new)                     \
 CALL(write_open_fd)                 \
 CALL(write_set_bytes_in_last_block) \
 CALL(write_set_format_pax_restricted)
#define FG_LIBARCHIVE_MEMBER(name) __typeof__(archive_##name) *(name);

struct fg_libarchive {
	FG_LIBARCHIVE_CALLS(FG_LIBARCHIVE_MEMBER)
};

extern struct fg_libarchive fg_libarchive;

int fg_libarchive_open(struct fg_error *err) FG_NODISCARD;

#endif
