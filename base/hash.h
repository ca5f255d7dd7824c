/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums and digests: a fast 64-bit hash for tables, CRC-32C for files, SHA-256 for identity. */
#ifndef FG_BASE_HASH_H
#define FG_BASE_HASH_H

#include "base/base.h"

enum {
	FG_SHA256_SIZE = 32,
	FG_SHA256_HEX_SIZE = 65
};

struct fg_sha256 {
	uint32_t state[8];
	uint64_t length_bytes;
	uint8_t block[64];
	size_t used;
};

uint64_t fg_hash64(const void *data, size_t size, uint64_t seed);
/* Computes CRC-32C (Castagnoli polynomial). Start with 0; pass the previous result to continue. */
uint32_t fg_crc32c(uint32_t crc, const void *data, size_t size);

void fg_sha256_init(struct fg_sha256 *sha);
void fg_sha256_add(struct fg_sha256 *sha, const void *data, size_t size);
/* Adds a string with its NUL, which keeps "ab", "c" and "a", "bc" apart; NULL counts as "". */
void fg_sha256_add_text(struct fg_sha256 *sha, const char *text);
/* Returns false if the file could not be read to its end. */
bool fg_sha256_add_file(struct fg_sha256 *sha, const char *path);
void fg_sha256_finish(struct fg_sha256 *sha, uint8_t digest[FG_SHA256_SIZE]);
/* Writes the digest's first `size` bytes as hexadecimal digits and a NUL. */
void fg_sha256_finish_hex(struct fg_sha256 *sha, size_t size, char *hex);
void fg_sha256_hex(const void *data, size_t size, char hex[FG_SHA256_HEX_SIZE]);
/* Writes the HMAC-SHA-256 (RFC 2104) in hexadecimal; it proves that the sender knows the key. */
void fg_hmac_sha256_hex(const void *key, size_t key_size, const void *data, size_t size,
			char hex[FG_SHA256_HEX_SIZE]);
void fg_hex(const uint8_t *data, size_t size, char *hex); /* 2 * size + 1 bytes */
/*
 * Decodes lower-case hexadecimal at the start of a string into at most `room` bytes. Returns their
 * number.
 */
size_t fg_hex_read(const char *hex, uint8_t *data, size_t room);

/*
 * Returns a random odd number, constant for the life of the process and unknown to outsiders. Mixed
 * into the hashes of a table, it prevents outsiders from choosing keys that collide.
 */
uint64_t fg_process_secret(void);

#endif
