/* Contexts: the current one, and its settings. */
#ifndef PTXLOOM_CONTEXTS_H
#define PTXLOOM_CONTEXTS_H

#include "base/connection.h"

#define CURRENT                                    \
    do {                                           \
        int context_error_ = context_error();      \
        if (context_error_) return context_error_; \
    } while (0)

/* Like DRIVER, but also requires a current context in which no kernel has failed. */
#define CONTEXT \
    DRIVER;     \
    CURRENT

int context_error(void);
void *current_context(void);
void *green_context_new(uint64_t *id);
void context_end(void *handle);

#endif
