// SPDX-License-Identifier: Apache-2.0
// A set of half-open intervals of time that do not overlap: a room's reservations.
#pragma once

#include <cstdint>
#include <vector>

namespace intervals
{

struct Interval {
	std::int64_t begin;
	std::int64_t end;
};

class Calendar
{
      public:
	// false: it overlaps one that is there.
	bool add(Interval wanted);
	// Where `length` fits first, not before `from`.
	std::int64_t first_gap(std::int64_t from, std::int64_t length) const;
	std::size_t size() const
	{
		return taken_.size();
	}

      private:
	std::vector<Interval> taken_; // sorted
};

} // namespace intervals
