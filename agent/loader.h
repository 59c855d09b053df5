/* SPDX-License-Identifier: MIT */
/*
 * The loader's functions, for patch.c alone, which is called where the program loads objects itself:
 * in its constructors, and in calls of dlopen(3) and the like.
 */
#ifndef SPARK_AGENT_LOADER_H
#define SPARK_AGENT_LOADER_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* A reference on a loaded object, so that it stays; NULL: it is gone, or another one has its name. path "": the program. */
static inline void *loader_hold(const char *path, ElfW(Addr) base)
{
	void *handle = dlopen(*path ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);

	if (handle && ((struct link_map *)handle)->l_addr != base) {
		dlclose(handle);
		handle = NULL;
	}
	return handle;
}

static inline void loader_let(void *handle)
{
	dlclose(handle);
}

/* What the loader finds under a name, in the search of the program or of a held object. version: NULL: the usual one. */
static inline void *loader_find(void *handle, const char *symbol, const char *version)
{
	return version ? dlvsym(handle, symbol, version) : dlsym(handle, symbol);
}

/* The symbol table's row of a function at an address; NULL: not known. */
static inline const ElfW(Sym) *loader_symbol(void *address)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) ? symbol : NULL;
}

/* An address that stands for a function of another object: a program's own PLT entry (ELF, "Function Addresses"). */
static inline bool loader_stands_in(void *address)
{
	const ElfW(Sym) *symbol = loader_symbol(address);

	return symbol && symbol->st_shndx == SHN_UNDEF;
}

/* What failed here is not to be the program's error. */
static inline void loader_forget_errors(void)
{
	(void)dlerror();
}

#endif
