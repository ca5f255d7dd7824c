// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
namespace UNIT
{
template <int N> struct Value {
	double x[N % 7 + 1];
	std::string name;
	bool operator<(const Value &o) const
	{
		return x[0] < o.x[0] || (x[0] == o.x[0] && name < o.name);
	}
};
template <int N> struct Worker {
	std::map<std::string, Value<N>> table;
	std::set<Value<N>> ordered;
	std::vector<Value<N>> items;
	std::unordered_map<int, std::shared_ptr<Value<N>>> shared;
	void add(int k)
	{
		Value<N> v{};
		v.x[0] = k;
		v.name = std::to_string(k);
		table[v.name] = v;
		ordered.insert(v);
		items.push_back(v);
		shared[k] = std::make_shared<Value<N>>(v);
	}
	double sum()
	{
		std::sort(items.begin(), items.end());
		double s = 0;
		for (auto &i : items)
			s += i.x[0];
		for (auto &t : table)
			s += t.second.x[0];
		std::function<double(double)> f = [this](double d) {
			return d + double(items.size());
		};
		return f(s);
	}
};
#define RUN(n)                                               \
 __attribute__((visibility("default"))) double run##n(int k) \
 {                                                           \
  Worker<n> w;                                               \
  for (int i = 0; i < k; i++)                                \
   w.add(i);                                                 \
  return w.sum();                                            \
 }
RUN(0)
RUN(1)
RUN(2)
RUN(3)
RUN(4)
RUN(5)
RUN(6)
RUN(7)
RUN(8)
RUN(9)
RUN(10)
RUN(11)
RUN(12)
RUN(13)
} // namespace UNIT
