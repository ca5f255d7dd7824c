// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
	SHA_BLOCK = 64,
	PIECE_BYTES = 1 << 16, /* bytes of a file that are read at once */
};

static uint64_t read64(const uint8_t *bytes)
{
	uint64_t value = 0;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Combines the halves of the 128-bit product: one multiplication mixes the bits of both numbers. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ const unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t fg_hash64(const void *data, size_t size, uint64_t seed)
{
	static const uint64_t k0 = UINT64_C(0x9e3779b97f4a7c15);
	static const uint64_t k1 = UINT64_C(0xd6e8feb86659fd93);
	const uint8_t *bytes = data;
	uint64_t hash = seed ^ mix(size ^ k0, k1);
	size_t left = size;

	while (left >= 16) {
		hash = mix(read64(bytes) ^ k0 ^ hash, read64(bytes + 8) ^ k1);
		bytes += 16;
		left -= 16;
	}
	if (left > 0) {
		uint8_t tail[16] = {0};

		memcpy(tail, bytes, left);
		hash = mix(read64(tail) ^ k0 ^ hash, read64(tail + 8) ^ k1 ^ left);
	}
	return mix(hash ^ k0, k1);
}

static uint32_t crc_nibble(uint32_t state)
{
	/*
	 * CRCs of the sixteen 4-bit values, for the Castagnoli polynomial (reflected 0x82f63b78).
	 */
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	return table[state & 15] ^ (state >> 4);
}

static uint32_t crc_portable(uint32_t state, const uint8_t *bytes, size_t size)
{
	for (; size > 0; size--, bytes++)
		state = crc_nibble(crc_nibble(state ^ *bytes));
	return state;
}

#if defined(__x86_64__)
# include <nmmintrin.h>

/* Uses the processor's CRC instruction; about thirty times faster than the table. */
__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t state, const uint8_t *bytes,
							    size_t size)
{
	uint64_t wide = state;

	for (; size >= 8; size -= 8, bytes += 8)
		wide = _mm_crc32_u64(wide, read64(bytes));
	state = (uint32_t)wide;
	for (; size > 0; size--, bytes++)
		state = _mm_crc32_u8(state, *bytes);
	return state;
}
#endif

uint32_t fg_crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_sse42(~crc, data, size);
#endif
	return ~crc_portable(~crc, data, size);
}

/* FIPS 180-4. */
static const uint32_t sha_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
	return (x >> n) | (x << (32 - n));
}

static void sha_block_portable(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64];
	uint32_t s[8];

	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		const uint32_t a = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
		const uint32_t b = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);

		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
	memcpy(s, state, sizeof(s));
	for (size_t i = 0; i < 64; i++) {
		const uint32_t e = rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25);
		const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		const uint32_t t1 = s[7] + e + choice + sha_k[i] + w[i];
		const uint32_t a = rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22);
		const uint32_t t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += s[i];
}

static void sha_blocks_portable(uint32_t state[8], const uint8_t *blocks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sha_block_portable(state, blocks + i * SHA_BLOCK);
}

#if defined(__x86_64__)
# include <cpuid.h>
# include <immintrin.h>

static bool has_sha_instructions(void)
{
	enum {
		EXTENDED_FEATURES = 7,
		SHA_BIT = 29
	};
	unsigned a = 0;
	unsigned b = 0;
	unsigned c = 0;
	unsigned d = 0;

	return __builtin_cpu_supports("sse4.1") &&
	       __get_cpuid_count(EXTENDED_FEATURES, 0, &a, &b, &c, &d) && (b >> SHA_BIT & 1);
}

static __m128i load(const void *at)
{
	return _mm_loadu_si128(at);
}

static void store(void *at, __m128i value)
{
	_mm_storeu_si128(at, value);
}

/*
 * Uses the processor's SHA instructions; about ten times faster than portable code. They take the
 * state as ABEF and CDGH, and do two rounds each. A step does four rounds with four words of
 * `message`, and computes the words that are needed 16 rounds later.
 */
__attribute__((target("sha,sse4.1"))) static void
sha_blocks_x86(uint32_t state[8], const uint8_t *blocks, size_t count)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i dcba = _mm_shuffle_epi32(load(state), 0xb1);
	const __m128i hgfe = _mm_shuffle_epi32(load(state + 4), 0x1b);
	__m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
	__m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);

	for (; count > 0; count--, blocks += SHA_BLOCK) {
		const __m128i abef_before = abef;
		const __m128i cdgh_before = cdgh;
		__m128i w[4];

		for (size_t i = 0; i < 16; i++) {
			__m128i message;

			if (i < 4)
				w[i] = _mm_shuffle_epi8(load(blocks + 16 * i), swap);
			else
				w[i & 3] = _mm_sha256msg2_epu32(
					_mm_add_epi32(
						_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
						_mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4)),
					w[(i + 3) & 3]);
			message = _mm_add_epi32(w[i & 3], load(sha_k + 4 * i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, message);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(message, 0x0e));
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	{
		const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
		const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);

		store(state, _mm_blend_epi16(feba, dchg, 0xf0));
		store(state + 4, _mm_alignr_epi8(dchg, feba, 8));
	}
}
#endif

static void sha_blocks(uint32_t state[8], const uint8_t *blocks, size_t count)
{
#if defined(__x86_64__)
	static _Atomic int fast; /* 0: not detected yet */
	int known = atomic_load_explicit(&fast, memory_order_relaxed);

	if (known == 0) {
		known = has_sha_instructions() ? 1 : -1;
		atomic_store_explicit(&fast, known, memory_order_relaxed);
	}
	if (known > 0) {
		sha_blocks_x86(state, blocks, count);
		return;
	}
#endif
	sha_blocks_portable(state, blocks, count);
}

void fg_sha256_init(struct fg_sha256 *sha)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	*sha = (struct fg_sha256){0};
	memcpy(sha->state, start, sizeof(start));
}

void fg_sha256_add(struct fg_sha256 *sha, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	sha->length_bytes += size;
	while (size > 0) {
		size_t part = fg_min_size(size, sizeof(sha->block) - sha->used);

		if (sha->used == 0 && size >= sizeof(sha->block)) {
			part = size - size % sizeof(sha->block);
			sha_blocks(sha->state, bytes, part / sizeof(sha->block));
		} else {
			memcpy(sha->block + sha->used, bytes, part);
			sha->used += part;
		}
		bytes += part;
		size -= part;
		if (sha->used == sizeof(sha->block)) {
			sha_blocks(sha->state, sha->block, 1);
			sha->used = 0;
		}
	}
}

bool fg_sha256_add_file(struct fg_sha256 *sha, const char *path)
{
	FILE *file = fopen(path, "re");
	char *piece = fg_xmalloc(PIECE_BYTES);
	size_t got = 0;
	bool good = file != NULL;

	while (good && (got = fread(piece, 1, PIECE_BYTES, file)) > 0)
		fg_sha256_add(sha, piece, got);
	if (file) {
		good = !ferror(file);
		(void)fclose(file);
	}
	free(piece);
	return good;
}

void fg_sha256_finish(struct fg_sha256 *sha, uint8_t digest[FG_SHA256_SIZE])
{
	const uint64_t bits = sha->length_bytes * 8;
	uint8_t end[72] = {0x80};
	const size_t padding = (sha->used < 56 ? 56 : 120) - sha->used;

	for (size_t i = 0; i < 8; i++)
		end[padding + i] = (uint8_t)(bits >> (56 - 8 * i));
	fg_sha256_add(sha, end, padding + 8);
	for (size_t i = 0; i < FG_SHA256_SIZE; i++)
		digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void fg_hex(const uint8_t *data, size_t size, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		hex[2 * i] = digits[data[i] >> 4];
		hex[2 * i + 1] = digits[data[i] & 15];
	}
	hex[2 * size] = '\0';
}

size_t fg_hex_read(const char *hex, uint8_t *data, size_t room)
{
	static const char digits[] = "0123456789abcdef";
	size_t size = 0;

	for (; size < room && hex[0] && hex[1]; hex += 2) {
		const char *high = strchr(digits, hex[0]);
		const char *low = strchr(digits, hex[1]);

		if (!high || !low)
			break;
		data[size++] = (uint8_t)((high - digits) * 16 + (low - digits));
	}
	return size;
}

void fg_sha256_add_text(struct fg_sha256 *sha, const char *text)
{
	fg_sha256_add(sha, text ? text : "", text ? strlen(text) + 1 : 1);
}

void fg_sha256_finish_hex(struct fg_sha256 *sha, size_t size, char *hex)
{
	uint8_t digest[FG_SHA256_SIZE];

	fg_sha256_finish(sha, digest);
	fg_hex(digest, size, hex);
}

void fg_sha256_hex(const void *data, size_t size, char hex[FG_SHA256_HEX_SIZE])
{
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	fg_sha256_add(&sha, data, size);
	fg_sha256_finish_hex(&sha, FG_SHA256_SIZE, hex);
}

void fg_hmac_sha256_hex(const void *key, size_t key_size, const void *data, size_t size,
			char hex[FG_SHA256_HEX_SIZE])
{
	struct fg_sha256 sha;
	uint8_t digest[FG_SHA256_SIZE];
	uint8_t pad[sizeof(sha.block)] = {0};

	if (key_size > sizeof(pad)) {
		fg_sha256_init(&sha);
		fg_sha256_add(&sha, key, key_size);
		fg_sha256_finish(&sha, pad);
	} else if (key_size > 0) {
		memcpy(pad, key, key_size);
	}
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36;
	fg_sha256_init(&sha);
	fg_sha256_add(&sha, pad, sizeof(pad));
	fg_sha256_add(&sha, data, size);
	fg_sha256_finish(&sha, digest);
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	fg_sha256_init(&sha);
	fg_sha256_add(&sha, pad, sizeof(pad));
	fg_sha256_add(&sha, digest, sizeof(digest));
	fg_sha256_finish_hex(&sha, FG_SHA256_SIZE, hex);
	explicit_bzero(pad, sizeof(pad));
	explicit_bzero(&sha, sizeof(sha));
}

uint64_t fg_process_secret(void)
{
	static _Atomic uint64_t secret;
	uint64_t value = atomic_load(&secret);
	uint64_t none = 0;

	if (value)
		return value;
	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != (ssize_t)sizeof(value))
		value = (uint64_t)(uintptr_t)&secret;
	value |= 1;
	/*
	 * If several threads race, one value wins: keys hashed with another value would not be
	 * found again.
	 */
	return atomic_compare_exchange_strong(&secret, &none, value) ? value : none;
}
