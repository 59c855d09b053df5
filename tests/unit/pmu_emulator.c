/* SPDX-License-Identifier: MIT */
/* See pmu_emulator.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "common/perf_user.h"
#include "pmu_emulator.h"

static emulator_counter give;
static struct sigaction before;
static volatile bool faulted;

#if defined(__x86_64__)

enum { FAULT = SIGSEGV };

/* RDPMC of Intel's manual, volume 2: 0F 33, counter ECX to EDX:EAX. */
static bool emulate(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	u64 value;

	if (memcmp((void *)(uintptr_t)registers[REG_RIP], "\x0f\x33", 2))
		return false;
	value = give((u32)registers[REG_RCX]);
	registers[REG_RAX] = (greg_t)(u32)value;
	registers[REG_RDX] = (greg_t)(value >> 32);
	registers[REG_RIP] += 2;
	return true;
}

/* The permission is a program's own. */
static bool faults_always(void)
{
	return true;
}

#elif defined(__aarch64__)

enum { FAULT = SIGILL };

/* MRS of PMEVCNTR<n>_EL0 (op1 3, CRn 14, CRm 10:n[4:3], op2 n[2:0]) and of PMCCNTR_EL0 (CRn 9, CRm 13, op2 0). */
static bool emulate(ucontext_t *context)
{
	mcontext_t *machine = &context->uc_mcontext;
	u32 code, index;

	memcpy(&code, (void *)(uintptr_t)machine->pc, sizeof(code));
	index = code >> 5 & 31;
	if ((code & ~31u) == 0xd53b9d00)
		index = 31;
	else if ((code & ~(31u << 5 | 31)) != 0xd53be800)
		return false;
	if ((code & 31) != 31)
		machine->regs[code & 31] = give(index);
	machine->pc += sizeof(code);
	return true;
}

/* Once it is allowed to a program, the kernel lets others on that CPU have it as well for a while. */
static bool faults_always(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_user_access", "re");
	bool allowed = file && getc(file) == '1';

	if (file)
		fclose(file);
	return !allowed;
}

#else

enum { FAULT = SIGILL };

static bool emulate(ucontext_t *context)
{
	(void)context;
	return false;
}

static bool faults_always(void)
{
	return false;
}

#endif

/* Any other fault comes again, and is met by who had the signal before. */
static void emulator_fault(int number, siginfo_t *info, void *context)
{
	(void)info;
	faulted = emulate(context);
	if (!faulted)
		sigaction(number, &before, NULL);
}

bool emulator_start(emulator_counter counter)
{
	struct sigaction action = { .sa_sigaction = emulator_fault, .sa_flags = SA_SIGINFO };
	u64 value;

	give = counter;
	faulted = false;
	sigaction(FAULT, &action, &before);
	perf_user_counter(0, &value);
	return faulted && faults_always();
}

void emulator_stop(void)
{
	sigaction(FAULT, &before, NULL);
}
