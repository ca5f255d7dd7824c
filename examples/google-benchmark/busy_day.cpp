// SPDX-License-Identifier: Apache-2.0
// A typical use of the library, in a program that does the same work each time, so it can be
// profiled.
#include "intervals.hpp"

#include <cstdio>

int main()
{
	std::uint64_t random = 1;
	std::int64_t booked = 0;

	for (int day = 0; day < 160; day++) {
		intervals::Calendar calendar;

		for (int i = 0; i < 2000; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			const auto from = static_cast<std::int64_t>((random >> 33) % 20000);
			const auto at = calendar.first_gap(from, 10);

			booked += calendar.add({at, at + 10});
		}
	}
	std::printf("%lld reservations\n", static_cast<long long>(booked));
	return booked == 320000 ? 0 : 1;
}
