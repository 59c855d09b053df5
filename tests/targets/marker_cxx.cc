/* SPDX-License-Identifier: MIT */
/*
 * Markers in what only C++ has: templates, members, lambdas, exceptions, local statics of inline
 * functions; with C++17 if constexpr and with C++20 a coroutine, where the library has them.
 *
 * A shared object for marker_main; also one of two files of such an object (MARKER_SECOND), whose
 * inline functions merge. One call of marker_work(n) makes, n times, 9 begins and 9 ends, 8 by site
 * and 1 by name; since C++11, C++17 and C++20 one more by site each.
 */
#include <spark/spark.h>
#if __cplusplus >= 202002L
#include <coroutine>
#endif

inline int inlined(int x)
{
	SPARK_SCOPE("inline");
	return x + 1;
}

inline void in_line()
{
	spark_region_begin("inline pair");
	spark_region_end("inline pair");
}

#ifdef MARKER_SECOND

int marker_second(int x);
int marker_second(int x)
{
	in_line();
	return inlined(x);
}

#else

#ifdef MARKER_FIRST
int marker_second(int x);
#else
static int marker_second(int x)
{
	in_line();
	return inlined(x);
}
#endif

namespace {

template<int N> struct counted {
	static const char *name() { return N ? "one" : "zero"; }
	int twice(int x) const
	{
		SPARK_SCOPE("member"); SPARK_SCOPE(N ? "true" : "false");
		return x * 2;
	}
};

template<typename T> T generic(T value, const char *name)
{
	SPARK_SCOPE("template");
	SPARK_SCOPE(name);
	return value;
}

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
void thrower()
{
	try {
		SPARK_SCOPE("throw");
		throw 1;
	} catch (int) {
	}
}
#else
void thrower()
{
	SPARK_SCOPE("throw");
}
#endif

int modern(int x)
{
#if __cplusplus >= 201103L
	auto lambda = [&x] { SPARK_SCOPE("lambda"); return x + 1; };

	x = lambda();
#endif
#if __cplusplus >= 201703L
	if constexpr (sizeof(int) == 4) {
		SPARK_SCOPE("if constexpr");
		x++;
	}
#endif
	return x;
}

#if __cplusplus >= 202002L
struct task {
	struct promise_type {
		task get_return_object() { return {}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
};

task coroutine()
{
	SPARK_SCOPE("coroutine");
	co_await std::suspend_never{};
}
#endif

} // namespace

extern "C" __attribute__((visibility("default"))) void marker_work(int n);
extern "C" void marker_work(int n)
{
	while (n-- > 0) {
		in_line();
		marker_second(inlined(n));
		counted<0>().twice(n);
		generic(n, counted<1>::name());
		thrower();
		modern(n);
#if __cplusplus >= 202002L
		coroutine();
#endif
	}
}

#endif
