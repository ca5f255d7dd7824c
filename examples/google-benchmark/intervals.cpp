// SPDX-License-Identifier: Apache-2.0
#include "intervals.hpp"

#include <algorithm>

namespace intervals
{
namespace
{

// Returns the first interval that ends after `time`.
auto behind(const std::vector<Interval> &taken, std::int64_t time)
{
	return std::upper_bound(taken.begin(), taken.end(), time,
				[](std::int64_t at, const Interval &one) { return at < one.end; });
}

} // namespace

bool Calendar::add(Interval wanted)
{
	const auto next = behind(taken_, wanted.begin);

	if (next != taken_.end() && next->begin < wanted.end)
		return false;
	taken_.insert(next, wanted);
	return true;
}

std::int64_t Calendar::first_gap(std::int64_t from, std::int64_t length) const
{
	std::int64_t at = from;

	for (auto one = behind(taken_, from); one != taken_.end() && one->begin < at + length;
	     ++one)
		at = std::max(at, one->end);
	return at;
}

} // namespace intervals
