/* SPDX-License-Identifier: MIT */
/*
 * Reading files of /proc in the target: open, one read, close, by raw system calls. The kernel
 * counts the agent's reads as the program's; they are kept apart here, so that source procio can
 * take them off again.
 */
#ifndef SPARK_AGENT_PROC_H
#define SPARK_AGENT_PROC_H

#include "common/base.h"

/* SAFE. Bytes read, not terminated, or -errno. directory: AT_FDCWD, or what path is relative to. */
long proc_read(int directory, const char *path, char *text, size_t size);

struct proc_own {
	u64 calls;
	u64 bytes;
};

/* SAFE. All readings so far of the calling thread, or of its process. */
struct proc_own proc_own_thread(void);
struct proc_own proc_own_process(void);
/*
 * SAFE. The process has its record now, which keeps the count; started: with the readings that came
 * before it.
 */
void proc_own_begin(bool started);

#endif
