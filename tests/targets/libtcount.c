/* SPDX-License-Identifier: MIT */
/*
 * libtcount.so: a preload library for the tests that counts calls of functions of sockets, and tells them when the
 * process ends, in a file named by TCOUNT, a dot and the program's name: a line "function calls" each. What is before
 * the program's own start, when constructors of libraries and the agent are done, is not counted. A child of fork tells
 * nothing.
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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
	static int told_##name(char *to, size_t size) { return snprintf(to, size, #name " %lu\n", count_##name); }
/* A function with its parameters and arguments, in parentheses. */
#define FUNCTION(type, name, parameters, arguments) \
	COUNTED(name) \
	type name parameters \
	{ \
		static type(*real) parameters; \
		count_one(&count_##name); \
		if (!real) \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		return real arguments; \
	}

static pid_t process;

static void count_one(unsigned long *count)
{
	if (process)
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

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

static int (*const told[])(char *, size_t) = {
	told_socket, told_connect, told_send, told_recv, told_poll, told_select, told_getsockopt, told_setsockopt,
	told_getaddrinfo,
};

/* In libc since 2.34; the last four are what older programs pass (csu/libc-start.c). */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
	void (*at_exit)(void), void *stack);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
	void (*at_exit)(void), void *stack)
{
	__typeof__(&__libc_start_main) real;

	*(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
	process = getpid();
	return real(main, argc, argv, init, fini, at_exit, stack);
}

static void __attribute__((destructor)) end(void)
{
	const char *prefix = getenv("TCOUNT");
	char text[4096];
	size_t used = 0;
	int fd;

	if (!prefix || process != getpid())
		return;
	snprintf(text, sizeof(text), "%s.%s", prefix, program_invocation_short_name);
	fd = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	for (unsigned int i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		used += (size_t)told[i](text + used, sizeof(text) - used);
	if (fd < 0 || write(fd, text, used) != (ssize_t)used)
		abort();
	close(fd);
}
