/* SPDX-License-Identifier: MIT */
/*
 * Functions that take a known kind of time: a chain of multiplications, a walk that misses the caches, malloc with
 * free, and a byte to another process and back. Each is one iteration, in C and C++, so that two ways of measuring
 * can be given the same code.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define KNOWN_NODES (1ul << 19)

/* As large as a cache line. */
struct known_node {
	struct known_node *next;
	char rest[56];
};

struct known_echo {
	pid_t pid;
	int to, from;
};

static inline unsigned long known_chain(unsigned long x)
{
	for (int i = 0; i < 8; i++) {
		x *= 0x9e3779b97f4a7c15ul;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* One ring of all nodes, in random order: 32 MiB. */
static inline struct known_node *known_ring(void)
{
	struct known_node *nodes = (struct known_node *)malloc(KNOWN_NODES * sizeof(*nodes));
	unsigned long random = 1;

	if (!nodes)
		exit(99);
	for (unsigned long i = 0; i < KNOWN_NODES; i++)
		nodes[i].next = &nodes[i];
	for (unsigned long i = KNOWN_NODES - 1; i > 0; i--) {
		random = random * 6364136223846793005ul + 1442695040888963407ul;
		unsigned long j = (random >> 33) % i;
		struct known_node *next = nodes[i].next;

		nodes[i].next = nodes[j].next;
		nodes[j].next = next;
	}
	return nodes;
}

static inline struct known_node *known_walk(struct known_node *node)
{
	node = node->next;
	__asm__ volatile("" : "+r"(node));
	return node;
}

static inline void known_alloc(void)
{
	void *p = malloc(100);

	__asm__ volatile("" : "+r"(p) : : "memory");
	free(p);
}

/* Both on one CPU: else it would be the time in which another one wakes up. */
static inline void known_pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline void known_echo_start(struct known_echo *echo)
{
	int there[2], back[2];
	char byte;

	known_pin();
	if (pipe(there) || pipe(back) || (echo->pid = fork()) < 0)
		exit(99);
	if (!echo->pid) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	echo->to = there[1];
	echo->from = back[0];
}

static inline void known_pipe(const struct known_echo *echo)
{
	char byte = 1;

	if (write(echo->to, &byte, 1) != 1 || read(echo->from, &byte, 1) != 1)
		exit(99);
}

static inline void known_echo_stop(const struct known_echo *echo)
{
	close(echo->to);
	close(echo->from);
	waitpid(echo->pid, NULL, 0);
}

#endif
