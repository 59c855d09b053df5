/* SPDX-License-Identifier: MIT */
/*
 * libtcount.so: a preload library for the tests that counts calls of functions of libc by other objects, and tells
 * them when the process ends, in the file named by TCOUNT: a line "function calls" each. What libc and the loader call
 * themselves is not counted. A child of fork tells nothing.
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNTED(name) \
	static unsigned long count_##name; \
	static void told_##name(FILE *file) { fprintf(file, #name " %lu\n", count_##name); }
#define COUNT(name) count_one(&count_##name, (unsigned long)__builtin_return_address(0))
/* A function with its parameters and arguments, in parentheses. */
#define FUNCTION(type, name, parameters, arguments) \
	COUNTED(name) \
	type name parameters \
	{ \
		static type(*real) parameters; \
		COUNT(name); \
		if (!real) \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		return real arguments; \
	}
/* One that is needed before dlsym(3) works, by libc's own name for it. */
#define EARLY(type, name, parameters, arguments) \
	type __libc_##name parameters; \
	COUNTED(name) \
	type name parameters \
	{ \
		COUNT(name); \
		return __libc_##name arguments; \
	}

static struct { unsigned long from, to; } own[2];
static pid_t process;

static int object_look(struct dl_phdr_info *info, size_t size, void *n)
{
	const char *file = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!file || (strncmp(file, "/libc.so", 8) && strncmp(file, "/ld-linux", 9)) || *(int *)n == 2)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			own[*(int *)n].from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			own[*(int *)n].to = own[*(int *)n].from + info->dlpi_phdr[i].p_memsz;
		}
	++*(int *)n;
	return 0;
}

/* Counts nothing before the constructor. */
static void count_one(unsigned long *count, unsigned long from)
{
	if (process && (from < own[0].from || from >= own[0].to) && (from < own[1].from || from >= own[1].to))
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

EARLY(void *, malloc, (size_t size), (size))
EARLY(void *, calloc, (size_t n, size_t size), (n, size))
EARLY(void *, realloc, (void *at, size_t size), (at, size))
EARLY(void, free, (void *at), (at))
FUNCTION(int, socket, (int family, int type, int protocol), (family, type, protocol))
FUNCTION(int, connect, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
FUNCTION(ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))
FUNCTION(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags))
FUNCTION(int, poll, (struct pollfd *list, nfds_t n, int ms), (list, n, ms))
FUNCTION(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))
FUNCTION(int, getsockopt, (int fd, int level, int name, void *to, socklen_t *n), (fd, level, name, to, n))
FUNCTION(int, setsockopt, (int fd, int level, int name, const void *from, socklen_t n), (fd, level, name, from, n))
FUNCTION(int, getaddrinfo, (const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **to),
	(host, port, hints, to))

static void (*const told[])(FILE *) = {
	told_malloc, told_calloc, told_realloc, told_free, told_socket, told_connect, told_send,
	told_recv, told_poll, told_select, told_getsockopt, told_setsockopt, told_getaddrinfo,
};

static void __attribute__((constructor)) begin(void)
{
	int n = 0;

	dl_iterate_phdr(object_look, &n);
	process = getpid();
}

static void __attribute__((destructor)) end(void)
{
	const char *path = getenv("TCOUNT");
	FILE *file;

	if (!path || process != getpid())
		return;
	process = 0;
	file = fopen(path, "w");
	for (unsigned int i = 0; file && i < sizeof(told) / sizeof(told[0]); i++)
		told[i](file);
	if (file)
		fclose(file);
}
