// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/reach.h"
#include "tests/support/fg_test.h"

static struct fg_reach *reach_with(const char *const *allowed, size_t count)
{
	struct fg_reach *reach = NULL;
	struct fg_error err = {0};

	if (fg_reach_new(allowed, count, &reach, &err) != FG_OK)
		fail_msg("%s", err.message);
	return reach;
}

static void public_addresses_are_reached(void **state)
{
	static const char *const addresses[] = {
		"8.8.8.8",    "1.1.1.1",        "172.15.0.1",  "172.32.0.1",
		"100.63.0.1", "::ffff:8.8.8.8", "2606:4700::", "2a00:1450:4001:800::200e"};
	struct fg_reach *reach = reach_with(NULL, 0);

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(addresses); i++) {
		if (!fg_reach_admits(reach, addresses[i]))
			fail_msg("%s is not reached", addresses[i]);
	}
	fg_reach_free(reach);
}

static void local_and_private_addresses_are_not(void **state)
{
	static const char *const addresses[] = {
		"0.0.0.0",
		"10.0.0.1",
		"100.127.255.255",
		"127.0.0.1",
		"127.255.255.255",
		"169.254.169.254",
		"172.16.0.1",
		"172.31.255.255",
		"192.168.0.1",
		"198.19.0.1",
		"224.0.0.251",
		"255.255.255.255",
		"::",
		"::1",
		"::ffff:10.0.0.1",
		"::127.0.0.1",
		"64:ff9b::a00:1",
		"2002:7f00:1::",
		"2001:0:1::",
		"fc00::1",
		"fdff::1",
		"fe80::1",
		"febf::1",
		"fec0::1",
		"ff02::1",
		"2001:db8::1",
		"no address",
		"",
	};
	struct fg_reach *reach = reach_with(NULL, 0);

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(addresses); i++) {
		if (fg_reach_admits(reach, addresses[i]))
			fail_msg("%s is reached", addresses[i]);
	}
	fg_reach_free(reach);
}

static void allowed_ranges_are_reached_and_nothing_beside(void **state)
{
	static const char *const allowed[] = {"10.1.0.0/16", "::1"};
	struct fg_reach *reach = reach_with(allowed, FG_ARRAY_SIZE(allowed));

	(void)state;
	assert_true(fg_reach_admits(reach, "10.1.255.1"));
	assert_true(fg_reach_admits(reach, "::ffff:10.1.0.1"));
	assert_true(fg_reach_admits(reach, "::1"));
	assert_true(fg_reach_admits(reach, "8.8.8.8"));
	assert_false(fg_reach_admits(reach, "10.2.0.1"));
	assert_false(fg_reach_admits(reach, "127.0.0.1"));
	fg_reach_free(reach);
}

static void mistyped_range_is_refused(void **state)
{
	static const char *const wrong[] = {"10.0.0.0/33", "example.org", "", "10.0.0.0/"};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(wrong); i++) {
		struct fg_reach *reach = NULL;
		struct fg_error err = {0};

		assert_int_equal(fg_reach_new(&wrong[i], 1, &reach, &err), FG_EINVAL);
		assert_non_null(strstr(err.message, "is not a range of addresses"));
		fg_reach_free(reach);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(public_addresses_are_reached),
		cmocka_unit_test(local_and_private_addresses_are_not),
		cmocka_unit_test(allowed_ranges_are_reached_and_nothing_beside),
		cmocka_unit_test(mistyped_range_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
