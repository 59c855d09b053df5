/* SPDX-License-Identifier: MIT */
/*
 * Runs marker_work of its own link unit 100 times and that of each shared object named on the
 * command line ten times, after dlopen and before dlclose; with a marker of its own around.
 *
 * marker_main [-u] [OBJECT...]	-u: fails unless dlclose unloads. Legal C89 and C++98; includes
 * nothing but spark.h. Defines: MARKER_NO_WORK, no work of its own; MARKER_STATIC, no dlopen.
 */
#include <spark/spark.h>

#ifdef __cplusplus
extern "C" {
#endif

extern struct spark_region marker_shared;
void marker_work(int n);

#ifndef MARKER_STATIC

extern void *dlopen(const char *path, int mode);
extern void *dlsym(void *handle, const char *name);
extern int dlclose(void *handle);

enum { LAZY = 1, NOLOAD = 4 };		/* RTLD_LAZY, RTLD_NOLOAD of glibc and musl */

static int work_in(const char *path, int must_unload)
{
	void *object = dlopen(path, LAZY);
	union {
		void *address;
		void (*call)(int);
	} work;

	if (!object)
		return 1;
	work.address = dlsym(object, "marker_work");
	if (!work.address)
		return 1;
	work.call(10);
	if (dlclose(object) != 0)
		return 1;
	return must_unload && dlopen(path, LAZY | NOLOAD);
}

static int work_in_objects(int argc, char **argv)
{
	int must_unload = argc > 1 && argv[1][0] == '-';
	int i;

	for (i = 1 + must_unload; i < argc; i++)
		if (work_in(argv[i], must_unload) != 0)
			return 1;
	return 0;
}

#else

static int work_in_objects(int argc, char **argv)
{
	return argc < 1 || !argv;
}

#endif

#ifdef __cplusplus
}
#endif

int main(int argc, char **argv)
{
	int status;

#ifndef MARKER_NO_WORK
	spark_begin(&marker_shared);
	marker_work(100);
	spark_end(&marker_shared);
#endif
	spark_region_begin("objects");
	status = work_in_objects(argc, argv);
	spark_region_end("objects");
	return status;
}
