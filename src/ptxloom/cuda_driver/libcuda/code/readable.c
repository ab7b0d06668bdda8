/* Checks that memory of the program can be read. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code/images.h"

enum { LEAST_PAGE = 4096, NO_WAY = -1, SET_BYTES = 8 };

/* sigprocmask reads its set of signals before it rejects the operation, which is invalid. The set is not the page's
   first word: at address 0 it would be a null pointer. */
static int is_page_readable(uintptr_t at) {
    uintptr_t set = at / LEAST_PAGE * LEAST_PAGE + SET_BYTES;
    return syscall(SYS_rt_sigprocmask, NO_WAY, set, NULL, (size_t)SET_BYTES) == 0 || errno != EFAULT;
}

size_t readable(const void *start, size_t most) {
    uintptr_t at = (uintptr_t)start;
    size_t known = 0;
    while (known < most) {
        size_t left = LEAST_PAGE - (at + known) % LEAST_PAGE;
        if (at + known < at || !is_page_readable(at + known)) return known;
        known += left;
    }
    return most;
}
