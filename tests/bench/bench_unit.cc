// SPDX-License-Identifier: MIT
/*
 * One of the units of a program with much debug info: containers and algorithms of many types, inlined into each
 * other. tests/bench/profile.sh compiles it once and links it several times, under other names.
 */
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

template <int N> struct item {
	std::string name;
	long weight[N + 1];
	bool operator<(const item &other) const
	{
		return weight[0] < other.weight[0] || (weight[0] == other.weight[0] && name < other.name);
	}
};

template <int N> struct store {
	std::map<int, item<N>> numbers;
	std::unordered_map<std::string, item<N>> names;
	std::vector<item<N>> list;
	std::set<item<N>> order;
	std::deque<item<N>> queue;

	void fill(unsigned int seed)
	{
		item<N> one{ std::to_string(seed % 97), { long(seed % 31) } };

		numbers[int(seed % 61)] = one;
		names[one.name] = one;
		order.insert(one);
		queue.push_back(one);
		list.push_back(one);
		if (list.size() < 50)
			return;
		std::sort(list.begin(), list.end());
		std::stable_sort(queue.begin(), queue.end());
		list.resize(25);
		queue.resize(25);
	}

	long sum() const
	{
		auto add = [](long s, const item<N> &i) { return s + i.weight[0]; };
		long all = 0;

		for (int i = 0; i < 400; i++)
			all += std::accumulate(list.begin(), list.end(), long(i), add) +
			       std::accumulate(queue.begin(), queue.end(), long(i), add);
		return all;
	}
};

template <int N> [[gnu::noinline]] long turn(unsigned int seed)
{
	static store<N> s;
	long sum = 0;

	s.fill(seed);
	if constexpr (N > 0)
		sum = turn<N - 1>(seed * 7 + 3);
	return sum + s.sum();
}

} // namespace

extern "C" long bench_unit(unsigned int seed);

long bench_unit(unsigned int seed)
{
	return turn<6>(seed);
}
