// SPDX-License-Identifier: Apache-2.0
// Allocation: short-lived strings, maps and vectors, as in everyday C++.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#ifndef SLOWER_PERMILLE
# define SLOWER_PERMILLE 0
#endif

namespace
{

struct node {
	std::string name;
	std::vector<int> values;
};

__attribute__((noinline)) std::size_t build(int seed)
{
	std::map<std::string, std::unique_ptr<node>> nodes;
	std::size_t total = 0;

	for (int i = 0; i < 200; i++) {
		auto made = std::make_unique<node>();

		made->name = "a name that is too long to be kept inside " +
			     std::to_string(i * 7919 + seed);
		made->values.assign(static_cast<std::size_t>(8 + i % 40), i);
		nodes[made->name] = std::move(made);
	}
	for (const auto &entry : nodes)
		total += entry.second->values.size() + entry.second->name.size();
	return total;
}

} // namespace

int main()
{
	const int rounds = 1000 + SLOWER_PERMILLE;
	std::size_t total = 0;

	for (int i = 0; i < rounds; i++)
		total += build(i % 17);
	std::printf("%zu\n", total);
	return 0;
}
