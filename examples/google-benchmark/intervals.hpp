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
	// Adds an interval; false: it overlaps an existing interval.
	bool add(Interval wanted);
	// Returns the start of the first gap of this length at or after `from`.
	std::int64_t first_gap(std::int64_t from, std::int64_t length) const;
	std::size_t size() const
	{
		return taken_.size();
	}

      private:
	std::vector<Interval> taken_; // sorted
};

} // namespace intervals
