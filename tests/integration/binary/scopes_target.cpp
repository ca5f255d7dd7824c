// SPDX-License-Identifier: Apache-2.0
// Functions without a linkage name once g++ has inlined them; test_scopes.c knows their lines.
namespace app
{

static volatile unsigned sink;

namespace
{

struct Outside {
	static unsigned twice(unsigned n)
	{
		struct Local {
			static unsigned add(unsigned k)
			{
				sink = sink + k;
				return sink;
			}
		};
		return Local::add(n) + Local::add(n + 1);
	}
};

} // namespace

template <typename Function> static inline void apply(const Function &function, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		function(i);
}

} // namespace app

extern "C" __attribute__((visibility("default"))) unsigned scopes_entry(unsigned n)
{
	app::apply([](unsigned k) { app::sink = app::sink + k; }, n);
	{
		app::apply([](unsigned k) { app::sink = app::sink * k; }, n);
	}
	return app::Outside::twice(n);
}
