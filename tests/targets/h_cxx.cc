/* SPDX-License-Identifier: MIT */
/*
 * h_cxx: 1,000 exceptions through three scopes; 1,000 through plain regions inside a scope; markers in
 * thread_local and static destructors.
 */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include <spark/spark.h>

static void pair(const char *name)
{
	spark_region_begin(name);
	spark_region_end(name);
}

struct late {
	const char *name;
	explicit late(const char *n) : name(n) { pair("constructed"); }
	~late() { pair(name); }
};

static late global("static-destructor");

static void inner(int depth)
{
	SPARK_SCOPE("scope");
	if (depth > 1)
		inner(depth - 1);
	throw std::runtime_error("out");
}

static void plain()
{
	spark_region_begin("plain");
	throw std::runtime_error("out");
}

static void use_thread_local()
{
	static thread_local late local("thread-local-destructor");

	pair(local.name[0] ? "thread" : "");
}

int main()
{
	int caught = 0;

	for (int i = 0; i < 1000; i++) {
		try {
			SPARK_SCOPE("outer");
			std::string name("dynamic");
			SPARK_SCOPE(name.c_str());
			inner(3);
		} catch (const std::exception &) {
			caught++;
		}
	}
	for (int i = 0; i < 1000; i++) {
		try {
			SPARK_SCOPE("around");
			plain();
		} catch (const std::exception &) {
			caught++;
		}
	}
	for (int i = 0; i < 32; i++)
		std::thread(use_thread_local).join();
	std::printf("caught %d\n", caught);
	return 0;
}
