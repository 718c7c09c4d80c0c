/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traps for each access to some memory; see line_trace.h.
 */
#include "tests/unit/line_trace.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct line_trace *present;
static int n_present;

static void protect(int rights)
{
    for (int i = 0; i < n_present; i++) {
        if (mprotect(present[i].base, present[i].n_bytes, rights) != 0) {
            abort();
        }
    }
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                           \
    !defined(__SANITIZE_THREAD__)

enum { WRITE_FAULT = 2, TRAP_FLAG = 0x100 };

bool line_trace_is_possible(void)
{
    return true;
}

/** Whether an instruction has the prefix "lock", or exchanges, which needs none. */
static bool is_atomic(const uint8_t *code)
{
    while (*code == 0x66 || (*code & 0xf0) == 0x40) { /* width */
        code++;
    }
    return *code == 0xf0 || *code == 0x86 || *code == 0x87;
}

/** Write an access down. @return whether it is one to our memory */
static bool note(const char *address, bool is_written, const uint8_t *code)
{
    for (int i = 0; i < n_present; i++) {
        struct line_trace *trace = &present[i];

        if (address >= trace->base && address < trace->base + trace->n_bytes) {
            trace->lines[(size_t)(address - trace->base) / LINE_BYTES] |=
                is_written ? LINE_WRITTEN : LINE_READ;
            trace->n_atomic += is_atomic(code);
            return true;
        }
    }
    return false;
}

static void on_access(int signal_number, siginfo_t *info, void *where)
{
    ucontext_t *context = where;
    bool is_written = (context->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT) != 0;

    if (!note(info->si_addr, is_written,
              (const uint8_t *)context->uc_mcontext.gregs[REG_RIP])) {
        signal(signal_number, SIG_DFL); /* a fault of the program */
        return;
    }
    protect(PROT_READ | PROT_WRITE);
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int signal_number, siginfo_t *info, void *where)
{
    ucontext_t *context = where;

    (void)signal_number;
    (void)info;
    protect(PROT_NONE);
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

void line_trace_begin(struct line_trace traces[], int n)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};

    action.sa_sigaction = on_access;
    ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
    action.sa_sigaction = on_step;
    ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
    present = traces;
    n_present = n;
    protect(PROT_NONE);
}

#else

bool line_trace_is_possible(void)
{
    return false;
}

void line_trace_begin(struct line_trace traces[], int n)
{
    present = traces;
    n_present = n;
}

#endif

void line_trace_end(void)
{
    protect(PROT_READ | PROT_WRITE);
    n_present = 0;
}

void line_trace_make(struct line_trace *trace_out, void *base, size_t n_bytes)
{
    size_t n_page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)((uintptr_t)base / n_page_bytes * n_page_bytes);

    n_bytes += (size_t)((char *)base - first);
    n_bytes = (n_bytes + n_page_bytes - 1) / n_page_bytes * n_page_bytes;
    *trace_out = (struct line_trace){
        .base = first,
        .n_bytes = n_bytes,
        .lines = calloc(n_bytes / LINE_BYTES, 1),
    };
    ck_assert_ptr_nonnull(trace_out->lines);
}

void line_trace_free(struct line_trace *trace)
{
    free(trace->lines);
}

size_t line_trace_count(const struct line_trace *trace, uint8_t bits)
{
    size_t n = 0;

    for (size_t i = 0; i < trace->n_bytes / LINE_BYTES; i++) {
        n += (trace->lines[i] & bits) == bits;
    }
    return n;
}
