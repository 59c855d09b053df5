/* SPDX-License-Identifier: MIT */
/* libunwind, loaded when a description has expressions that only it knows (cli/library.h). For this folder alone. */
#ifndef CLI_SYMBOLS_LIBUNWIND_H
#define CLI_SYMBOLS_LIBUNWIND_H

#include <libunwind.h>
#include <stdbool.h>

/* Not in its headers, but what others that unwind from a sample call as well. */
int unw_search_unwind_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table, unw_proc_info_t *info,
	int need_unwind_info, void *arg);

/* Its functions by their names; those of libunwind_load() once it has returned true. */
extern struct libunwind {
	__typeof__(&unw_create_addr_space) create_addr_space;
	__typeof__(&unw_get_reg) get_reg;
	__typeof__(&unw_init_remote) init_remote;
	__typeof__(&unw_search_unwind_table) search_unwind_table;
	__typeof__(&unw_step) step;
} libunwind;

/* False: it does not load here, which is told once. */
bool libunwind_load(void);

#endif
