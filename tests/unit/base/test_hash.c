// SPDX-License-Identifier: Apache-2.0
/*
 * Reference values: SHA-256 from FIPS 180-4's examples (NIST), CRC-32C from RFC 3720, appendix B.4.
 */
#include "base/hash.h"
#include "tests/support/fg_test.h"

FG_TEST(sha256_agrees_with_the_standard)
{
	static const struct {
		const char *text;
		const char *hex;
	} cases[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	char hex[FG_SHA256_HEX_SIZE];

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		fg_sha256_hex(cases[i].text, strlen(cases[i].text), hex);
		assert_string_equal(hex, cases[i].hex);
	}
}

FG_TEST(sha256_of_a_million_letters_in_uneven_pieces)
{
	struct fg_sha256 sha;
	uint8_t digest[FG_SHA256_SIZE];
	char hex[FG_SHA256_HEX_SIZE];
	char piece[977];
	size_t left = 1000000;

	memset(piece, 'a', sizeof(piece));
	fg_sha256_init(&sha);
	while (left > 0) {
		const size_t part = fg_min_size(left, sizeof(piece));

		fg_sha256_add(&sha, piece, part);
		left -= part;
	}
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The vectors of RFC 4231, except the truncated one. */
FG_TEST(hmac_agrees_with_the_standard)
{
	static const char jefe[] = "Jefe";
	static const char long_data[] =
		"This is a test using a larger than block-size key and a larger than block-size "
		"data. The key needs to be hashed before being used by the HMAC algorithm.";
	static const char long_key_data[] =
		"Test Using Larger Than Block-Size Key - Hash Key First";
	static const char question[] = "what do ya want for nothing?";
	uint8_t key_0b[20];
	uint8_t key_aa[131];
	uint8_t key_counting[25];
	uint8_t data_dd[50];
	uint8_t data_cd[50];

	memset(key_0b, 0x0b, sizeof(key_0b));
	memset(key_aa, 0xaa, sizeof(key_aa));
	memset(data_dd, 0xdd, sizeof(data_dd));
	memset(data_cd, 0xcd, sizeof(data_cd));
	for (uint8_t i = 0; i < sizeof(key_counting); i++)
		key_counting[i] = (uint8_t)(i + 1);
	{
		const struct {
			const void *key;
			size_t key_size;
			const void *data;
			size_t size;
			const char *expected;
		} cases[] = {
			{key_0b, 20, "Hi There", 8,
			 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
			{jefe, 4, question, sizeof(question) - 1,
			 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
			{key_aa, 20, data_dd, 50,
			 "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
			{key_counting, 25, data_cd, 50,
			 "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
			{key_aa, 131, long_key_data, sizeof(long_key_data) - 1,
			 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
			{key_aa, 131, long_data, sizeof(long_data) - 1,
			 "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
		};

		for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
			char hex[FG_SHA256_HEX_SIZE];

			fg_hmac_sha256_hex(cases[i].key, cases[i].key_size, cases[i].data,
					   cases[i].size, hex);
			assert_string_equal(hex, cases[i].expected);
		}
	}
}

FG_TEST(crc32c_agrees_with_the_standard)
{
	uint8_t bytes[32] = {0};

	assert_int_equal(fg_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(fg_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (uint8_t i = 0; i < 32; i++)
		bytes[i] = i;
	assert_int_equal(fg_crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
	/* In two parts, split at an odd place. */
	assert_int_equal(fg_crc32c(fg_crc32c(0, bytes, 13), bytes + 13, 19), 0x46dd794e);
}

FG_TEST(hash64_depends_on_every_byte_and_on_the_seed)
{
	char text[40] = {0};
	const uint64_t base = fg_hash64(text, sizeof(text), 1);

	assert_int_not_equal(base, fg_hash64(text, sizeof(text), 2));
	assert_int_not_equal(base, fg_hash64(text, sizeof(text) - 1, 1));
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = 1;
		assert_int_not_equal(base, fg_hash64(text, sizeof(text), 1));
		text[i] = 0;
	}
}
