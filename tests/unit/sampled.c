/* SPDX-License-Identifier: MIT */
/* See sampled.h. */
#include "sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/perf.h"

#define RING_PAGES 128u              /* what users may lock */
#define FREQUENCY 2000u

static void die(const char *what)
{
	perror(what);
	abort();
}

/* ---- the program ------------------------------------------------------------------------------------- */

static FILE *start(struct sampled *s, const char *program, const char *mode)
{
	const char *folder = getenv("TARGETS");
	char path[4096];
	int fds[2];

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "tests/targets", program);
	if (pipe(fds))
		die("pipe");
	s->pid = fork();
	if (s->pid == 0) {
		dup2(fds[1], 1);
		close(fds[0]);
		execl(path, path, mode, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	return fdopen(fds[0], "r");
}

static void claims_read(struct sampled *s, FILE *out)
{
	char name[32];
	long long value;

	while ((!s->main || !s->recursion) && fscanf(out, " value %31s %lld", name, &value) == 2) {
		if (!strcmp(name, "main"))
			s->main = (u64)value;
		if (!strcmp(name, "recursion")) {
			s->recursion = (u64)value;
			break;
		}
	}
	if (!s->main)
		die("no claims");
}

static void image_read(struct sampled *s, struct sampled_map *map)
{
	char path[64];
	struct stat st;
	bool vdso = !strcmp(map->path, "[vdso]");
	u8 *image;
	int fd;

	for (u32 i = 0; i + 1 < s->nmaps; i++)
		if (!strcmp(s->maps[i].path, map->path) && s->maps[i].image) {
			map->cfi = s->maps[i].cfi;
			return;
		}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)s->pid);
	fd = open(vdso ? path : map->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die(map->path);
	map->size = vdso ? map->end - map->start : (size_t)st.st_size;
	image = malloc(map->size);
	if (!image || pread(fd, image, map->size, vdso ? (off_t)map->start : 0) != (ssize_t)map->size)
		die("image");
	close(fd);
	map->image = image;
	map->cfi = cfi_new(image, map->size);
}

static void maps_read(struct sampled *s)
{
	char path[64], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps) && s->nmaps < SAMPLED_MAPS) {
		struct sampled_map *map = &s->maps[s->nmaps];
		unsigned long long from, to, offset;
		char rights[5];

		map->path[0] = '\0';
		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %255s", &from, &to, rights, &offset, map->path) < 4 || rights[2] != 'x')
			continue;
		map->start = from;
		map->end = to;
		map->offset = offset;
		s->nmaps++;
		if (map->path[0] == '/' || !strcmp(map->path, "[vdso]"))
			image_read(s, map);
	}
	if (maps)
		fclose(maps);
}

static bool find(void *context, u64 address, struct unwind_object *object)
{
	struct sampled *s = context;

	for (u32 i = 0; i < s->nmaps; i++) {
		struct sampled_map *map = &s->maps[i];

		if (address < map->start || address >= map->end)
			continue;
		*object = (struct unwind_object){
			.start = map->start, .end = map->end, .offset = map->offset, .identity = map, .cfi = map->cfi,
		};
		return true;
	}
	return false;
}

/* ---- the ring ---------------------------------------------------------------------------------------- */

static int event_open(pid_t pid, u32 stack)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	attr.read_format = 0;
	attr.freq = 1;
	attr.sample_freq = FREQUENCY;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = unwind_regs_mask();
	attr.sample_stack_user = stack;
	attr.exclude_callchain_kernel = 1;
	fd = perf_open(&attr, pid, -1, -1, 0);
	/* The kernel has lowered its limit, since a machine is slow. */
	for (; fd == -EINVAL && attr.sample_freq > 100; fd = perf_open(&attr, pid, -1, -1, 0))
		attr.sample_freq /= 2;
	if (fd != -EACCES && fd != -EPERM)
		return fd;
	attr.exclude_kernel = 1;
	return perf_open(&attr, pid, -1, -1, 0);
}

static u64 take(const u8 **at)
{
	u64 value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return value;
}

/* A record: ip; number and addresses; abi and registers; size, bytes and dyn_size of the stack. */
static void record_read(struct sampled *s, const u8 *at)
{
	struct sampled_record *r = &s->records[s->nrecords];
	const u8 *stack;
	u64 n, size;

	r->ncallchain = 0;
	r->ip = take(&at);
	for (n = take(&at); n; n--) {
		u64 ip = take(&at);

		if (ip < (u64)PERF_CONTEXT_MAX && r->ncallchain < SAMPLED_CHAIN)
			r->callchain[r->ncallchain++] = ip;
	}
	r->abi = take(&at);
	for (int i = 0; r->abi && i < __builtin_popcountll(unwind_regs_mask()); i++)
		r->regs[i] = take(&at);
	size = take(&at);
	stack = at;
	at += size;
	r->size = size ? take(&at) : 0;
	r->stack = malloc(r->size + 1);
	if (!r->stack)
		die("malloc");
	memcpy(r->stack, stack, r->size);
	s->nrecords += r->abi != 0;
}

static void ring_read(struct sampled *s, struct perf_event_mmap_page *page, size_t most)
{
	u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
	const u8 *data = (const u8 *)page + page->data_offset;
	u64 ring = page->data_size;

	while (at < head && s->nrecords < most) {
		static u8 bytes[65536];
		struct perf_event_header h;

		for (size_t i = 0; i < sizeof(h); i++)
			((u8 *)&h)[i] = data[(at + i) & (ring - 1)];
		for (size_t i = 0; i < h.size; i++)
			bytes[i] = data[(at + i) & (ring - 1)];
		if (h.type == PERF_RECORD_SAMPLE)
			record_read(s, bytes + sizeof(h));
		at += h.size;
	}
	__atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

int sampled_take(struct sampled *s, const char *program, const char *mode, u32 stack, size_t n)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	FILE *out;
	void *page;
	int fd;

	*s = (struct sampled){ .source = { .context = s, .find = find } };
	s->records = calloc(n, sizeof(*s->records));
	out = start(s, program, mode);
	if (!s->records || !out)
		die("start");
	claims_read(s, out);
	maps_read(s);
	fd = event_open(s->pid, stack);
	page = fd < 0 ? MAP_FAILED : mmap(NULL, (RING_PAGES + 1) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0 && page == MAP_FAILED)
		die("mmap");
	for (u32 waits = 0; fd >= 0 && s->nrecords < n && waits < 10000; waits++) {
		usleep(2000);
		ring_read(s, page, n);
	}
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	fclose(out);
	if (fd < 0)
		return fd;
	munmap(page, (RING_PAGES + 1) * page_size);
	close(fd);
	return 0;
}

void sampled_free(struct sampled *s)
{
	for (u32 i = 0; i < s->nmaps; i++) {
		if (!s->maps[i].image)
			continue;
		cfi_free(s->maps[i].cfi);
		free((void *)(uintptr_t)s->maps[i].image);
	}
	for (size_t i = 0; i < s->nrecords; i++)
		free(s->records[i].stack);
	free(s->records);
}

struct unwind_sample sampled_sample(const struct sampled_record *record, size_t stack)
{
	return (struct unwind_sample){
		.abi = record->abi, .regs = record->regs, .stack = record->stack, .size = MIN(record->size, stack),
		.callchain = record->callchain, .ncallchain = record->ncallchain,
	};
}
