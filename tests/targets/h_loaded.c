/* SPDX-License-Identifier: MIT */
/*
 * h_loaded: markers in a constructor, in main, in exit handlers, in a destructor, and by a thread that
 * goes on while the process exits. To be run with h_library.so preloaded, too.
 *
 * h_loaded N PLUGIN...: N times loads each plugin, runs it, unloads it and maps something over it.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "target.h"

static void pairs(const char *name)
{
	int i;

	for (i = 0; i < 10; i++) {
		spark_region_begin(name);
		spark_region_end(name);
	}
}

__attribute__((constructor)) static void begin(void)
{
	pairs("constructor");
}

__attribute__((destructor)) static void end(void)
{
	pairs("destructor");
}

static void at_exit(void)
{
	pairs("atexit");
}

static void *go_on(void *arg)
{
	volatile int *started = arg;

	for (;;) {
		spark_region_begin("thread");
		spark_region_end("thread");
		*started = 1;
	}
	return NULL;
}

static void run_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*run)(void);
	Dl_info info;
	void *over;

	if (!library)
		target_die(dlerror());
	*(void **)&run = dlsym(library, "plugin_run");
	if (!run || !dladdr(*(void **)&run, &info))
		target_die("plugin_run");
	over = info.dli_fbase;
	run();
	dlclose(library);
	/* Whoever still looks there sees other bytes. Refused where the library is still mapped. */
	over = mmap(over, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (over == MAP_FAILED)
		target_die("the plugin stays");
	memset(over, 0xa5, 16384);
	munmap(over, 16384);
}

int main(int argc, char **argv)
{
	volatile int started = 0;
	int64_t n;
	pthread_t id;
	int i;

	target_open();
	if (argc > 2) {
		for (n = target_arg(argc, argv, 1, 1); n > 0; n--)
			for (i = 2; i < argc; i++)
				run_plugin(argv[i]);
		return 0;
	}
	atexit(at_exit);
	pairs("main");
	pthread_create(&id, NULL, go_on, (void *)&started);
	while (!started)
		;
	return 0;
}
