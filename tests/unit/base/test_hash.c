// SPDX-License-Identifier: Apache-2.0
/* Reference values: SHA-256 from FIPS 180-4's examples (NIST), CRC-32C from RFC 3720, appendix B.4. */
#include "base/hash.h"
#include "tests/support/fg_test.h"

static void sha256_agrees_with_the_standard(void **state)
{
	static const struct {
		const char *text;
		const char *hex;
	} cases[] = {
		{"",							 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc",						      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"                                                            },
	};
	char hex[FG_SHA256_HEX_SIZE];

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		fg_sha256_hex(cases[i].text, strlen(cases[i].text), hex);
		assert_string_equal(hex, cases[i].hex);
	}
}

static void sha256_of_a_million_letters_in_uneven_pieces(void **state)
{
	struct fg_sha256 sha;
	uint8_t digest[FG_SHA256_SIZE];
	char hex[FG_SHA256_HEX_SIZE];
	char piece[977];
	size_t left = 1000000;

	(void)state;
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

static void crc32c_agrees_with_the_standard(void **state)
{
	uint8_t bytes[32] = {0};

	(void)state;
	assert_int_equal(fg_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(fg_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (uint8_t i = 0; i < 32; i++)
		bytes[i] = i;
	assert_int_equal(fg_crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
	/* In two parts, at an odd place. */
	assert_int_equal(fg_crc32c(fg_crc32c(0, bytes, 13), bytes + 13, 19), 0x46dd794e);
}

static void hash64_depends_on_every_byte_and_on_the_seed(void **state)
{
	char text[40] = {0};
	const uint64_t base = fg_hash64(text, sizeof(text), 1);

	(void)state;
	assert_int_not_equal(base, fg_hash64(text, sizeof(text), 2));
	assert_int_not_equal(base, fg_hash64(text, sizeof(text) - 1, 1));
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = 1;
		assert_int_not_equal(base, fg_hash64(text, sizeof(text), 1));
		text[i] = 0;
	}
}

static void secrets_are_compared_by_content(void **state)
{
	(void)state;
	assert_true(fg_equal_secret("abcd", "abcd", 4));
	assert_false(fg_equal_secret("abcd", "abce", 4));
	assert_false(fg_equal_secret("xbcd", "abcd", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_agrees_with_the_standard),
		cmocka_unit_test(sha256_of_a_million_letters_in_uneven_pieces),
		cmocka_unit_test(crc32c_agrees_with_the_standard),
		cmocka_unit_test(hash64_depends_on_every_byte_and_on_the_seed),
		cmocka_unit_test(secrets_are_compared_by_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
