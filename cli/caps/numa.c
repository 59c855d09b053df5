/* SPDX-License-Identifier: MIT */
/*
 * The probe "numa-attribution": two system calls must name the same node for a page of our own.
 * By their numbers, since libnuma prints to standard error when it is refused.
 */
#include "cli/caps/caps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mempolicy.h */
enum { NUMA_NODE = 1 << 0, NUMA_ADDRESS = 1 << 1 };

/* Nodes of "0", "0-1" or "0,2-3"; or -errno. */
static int numa_count_nodes(const struct caps_context *context)
{
	char text[1024], *part, *rest, *dash;
	long got = facts_read(context, "/sys/devices/system/node/online", text, sizeof(text));
	int n = 0;

	if (got < 0)
		return (int)got;
	for (part = strtok_r(text, ",\n", &rest); part; part = strtok_r(NULL, ",\n", &rest)) {
		dash = strchr(part, '-');
		n += dash ? atoi(dash + 1) - atoi(part) + 1 : 1;
	}
	return n;
}

/* Asks for the node of a page both ways. Returns the call that failed, with *err, or NULL. */
static const char *numa_ask(void *page, int *policy, int *moved, int *err)
{
	void *pages[] = { page };

	if (syscall(SYS_get_mempolicy, policy, NULL, 0UL, page,
		    (unsigned long)(NUMA_NODE | NUMA_ADDRESS))) {
		*err = errno;
		return "get_mempolicy";
	}
	/* Without target nodes it moves nothing, and tells where the pages are. */
	if (syscall(SYS_move_pages, 0, 1UL, pages, NULL, moved, 0)) {
		*err = errno;
		return "move_pages";
	}
	if (*moved >= 0)
		return NULL;
	*err = -*moved;
	return "move_pages";
}

struct outcome numa_probe(struct caps_context *context)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int policy = -1, moved = -1, err = 0, nodes;
	const char *failed;

	if (page == MAP_FAILED)
		return advice_errno(errno, "a page to ask for");
	*(volatile char *)page = 1;
	failed = numa_ask(page, &policy, &moved, &err);
	munmap(page, size);
	if (failed)
		return advice_call(context, err, failed);
	if (policy != moved)
		return outcome_no("", "get_mempolicy and move_pages name two nodes for one page, "
			"%d and %d", policy, moved);
	nodes = numa_count_nodes(context);
	if (nodes < 0)
		return outcome_yes("get_mempolicy and move_pages agree; how many nodes there are "
			"is not known (%s)", advice_errno_name(-nodes));
	return nodes == 1 ?
		outcome_yes("get_mempolicy and move_pages agree; one node, so all pages are local") :
		outcome_yes("get_mempolicy and move_pages agree; %d nodes", nodes);
}
