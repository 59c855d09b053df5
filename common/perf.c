/* SPDX-License-Identifier: MIT */
/*
 * perf_event_open(2) and its page; see perf.h. Called by sparkctl anywhere and by the agent while
 * it arms a thread; async-signal-safe.
 */
#include "common/perf.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void perf_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = type;
	attr->config = config;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
	long fd;

	fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int perf_read(int fd, struct perf_value *value)
{
	ssize_t got = read(fd, value, sizeof(*value));

	if (got < 0)
		return -errno;
	return got == (ssize_t)sizeof(*value) ? 0 : -EIO;
}

int perf_page_map(int fd, const struct perf_event_mmap_page **page)
{
	void *at = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	*page = at;
	return 0;
}

void perf_page_unmap(const struct perf_event_mmap_page *page)
{
	munmap((void *)(uintptr_t)page, (size_t)sysconf(_SC_PAGESIZE));
}
