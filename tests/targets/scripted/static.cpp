// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

namespace fit
{
static volatile unsigned sink;

struct Track {
	std::vector<unsigned> hits;

	__attribute__((noinline)) void load()
	{
		unsigned x = sink;

		for (int i = 0; i < 700; i++)
			for (unsigned hit : hits)
				x = x * 17 + hit;
		sink = x;
	}

	__attribute__((noinline)) void refine(unsigned n)
	{
		unsigned x = sink;

		for (unsigned i = 0; i < n; i++)
			x = x * 31 + i;
		sink = x;
	}
};
} // namespace fit

int main(int count, char **words)
{
	fit::Track track{std::vector<unsigned>(600, 3)};

	for (int i = std::stoi(words[count - 1]); i > 0; i--) {
		track.load();
		track.refine(ROUNDS);
	}
}
