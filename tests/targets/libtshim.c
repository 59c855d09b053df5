/* SPDX-License-Identifier: MIT */
/*
 * libtshim.so: a second preload library for the tests. It brackets read, write and malloc with
 * markers on every thread and counts the same calls itself, in the file named by TSHIM_COUNTS:
 * 64-byte records of 8 words { pid, read, write, malloc, 0... }, of which the first is
 * { next free record, 0... }. The file is mapped, so its counts survive every end and every exec.
 *
 * A process claims a record at its first call and a forked child another: the pointer to it lies
 * in memory that the kernel wipes at fork. A vfork child goes on in the parent's record, as its
 * markers go on in the parent's regions. Without an agent nothing is counted.
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <spark/spark.h>

#define SHIM_RECORDS 8192

enum shim_call { SHIM_READ, SHIM_WRITE, SHIM_MALLOC, SHIM_CALLS };

struct shim_record {
	unsigned long pid;
	unsigned long count[SHIM_CALLS];
	unsigned long unused[4];
};

void *__libc_malloc(size_t size);
ssize_t __read(int fd, void *buf, size_t n);
ssize_t __write(int fd, const void *buf, size_t n);

extern char **environ;

static struct shim_record *records;
static struct shim_record **home;	/* in a page that is zero again after a fork */
static unsigned long early[SHIM_CALLS];	/* calls before the environment could be read */

static void *(*next_malloc)(size_t) = __libc_malloc;
static ssize_t (*next_read)(int, void *, size_t) = __read;
static ssize_t (*next_write)(int, const void *, size_t) = __write;

static struct spark_region region_read = SPARK_REGION("shim:read");
static struct spark_region region_write = SPARK_REGION("shim:write");
static struct spark_region region_malloc = SPARK_REGION("shim:malloc");

static void shim_map(void)
{
	const char *path = environ ? getenv("TSHIM_COUNTS") : NULL;
	size_t size = SHIM_RECORDS * sizeof(struct shim_record);
	void *page, *file;
	int fd;

	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (file == MAP_FAILED || page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK))
		return;
	home = page;
	__atomic_store_n(&records, file, __ATOMIC_RELEASE);
}

static struct shim_record *shim_claim(void)
{
	struct shim_record *mine, *none = NULL;
	unsigned long i;
	int call;

	i = 1 + __atomic_fetch_add(&records[0].pid, 1, __ATOMIC_RELAXED);
	if (i >= SHIM_RECORDS)
		return NULL;
	mine = &records[i];
	mine->pid = (unsigned long)getpid();
	if (!__atomic_compare_exchange_n(home, &none, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return none;
	for (call = 0; call < SHIM_CALLS; call++)
		__atomic_fetch_add(&mine->count[call],
				   __atomic_exchange_n(&early[call], 0, __ATOMIC_RELAXED),
				   __ATOMIC_RELAXED);
	return mine;
}

static void shim_count(enum shim_call call)
{
	struct shim_record *mine = NULL;
	int error = errno;

	if (!&spark_agent_v1)
		return;
	if (!__atomic_load_n(&records, __ATOMIC_ACQUIRE))
		shim_map();
	if (records)
		mine = *home ? *home : shim_claim();
	__atomic_fetch_add(mine ? &mine->count[call] : &early[call], 1, __ATOMIC_RELAXED);
	errno = error;
}

__attribute__((constructor)) static void shim_start(void)
{
	void *symbol;

	if ((symbol = dlsym(RTLD_NEXT, "malloc")))
		next_malloc = (void *(*)(size_t))symbol;
	if ((symbol = dlsym(RTLD_NEXT, "read")))
		next_read = (ssize_t (*)(int, void *, size_t))symbol;
	if ((symbol = dlsym(RTLD_NEXT, "write")))
		next_write = (ssize_t (*)(int, const void *, size_t))symbol;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	void *result;

	spark_begin(&region_malloc);
	result = next_malloc(size);
	spark_end(&region_malloc);
	shim_count(SHIM_MALLOC);
	return result;
}

__attribute__((visibility("default"))) ssize_t read(int fd, void *buf, size_t n)
{
	ssize_t result;

	spark_begin(&region_read);
	result = next_read(fd, buf, n);
	spark_end(&region_read);
	shim_count(SHIM_READ);
	return result;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *buf, size_t n)
{
	ssize_t result;

	spark_begin(&region_write);
	result = next_write(fd, buf, n);
	spark_end(&region_write);
	shim_count(SHIM_WRITE);
	return result;
}
