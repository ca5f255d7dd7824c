// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

static __attribute__((noinline)) void thrower(int depth)
{
	std::string held(20, 'x'); // needs a destructor during the unwinding
	if (depth == 0)
		throw std::runtime_error(held);
	thrower(depth - 1);
}

extern "C" __attribute__((visibility("default"))) int throw_many(int count)
{
	int caught = 0;

	for (int i = 0; i < count; i++) {
		try {
			thrower(5);
		} catch (const std::exception &) {
			caught++;
		}
	}
	return caught;
}
