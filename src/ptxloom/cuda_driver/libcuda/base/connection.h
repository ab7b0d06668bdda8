/* The server, in which kernels run: one connection per process, and requests on it. */
#ifndef PTXLOOM_CONNECTION_H
#define PTXLOOM_CONNECTION_H

#include "base/device.h"
#include "base/errors.h"
#include "base/lock.h"

/* Like LOCKED, but returns an error unless cuInit has been called. */
#define DRIVER                                   \
    LOCKED;                                      \
    do {                                         \
        int driver_error_ = driver_error();      \
        if (driver_error_) return driver_error_; \
    } while (0)

int driver_error(void);
extern __thread int calling_host; /* while a stream calls a function of the program, which may not call the driver */
extern int failed; /* the error that ended a kernel: every call returns it, until the context is reset */

enum operation {
    HELLO = 1,
    ALLOCATE,
    FREE,
    LOAD,
    UNLOAD,
    GET_FUNCTION,
    GET_GLOBAL,
    LIST_FUNCTIONS,
    LAUNCH,
    LINK,
    TENSOR_MAP,
    MISSING,
    IPC_OPEN,
    IMAGE,
    DROP_IMAGE,
    REFERENCE,
    PLACE,
    VIRTUAL = 20,
};

struct part {
    const void *data;
    size_t size;
};

/* The server's response: bytes that are valid until the next request. */
struct answer {
    const unsigned char *data;
    size_t size;
};

int server_process(void);
int ask(enum operation operation, const struct part *parts, int count, struct answer *answer);
int connect_device(void);
int map_shared(uint64_t address, uint64_t size, int file); /* closes the file */
int function_missing(const char *name);                    /* returns CUDA_ERROR_NOT_SUPPORTED; the report lists it */

/* FORGETS(function): it is called when the process connects to another server, and must drop all state. */
typedef void forgetting(void);
void when_server_changes(forgetting *function);
#define FORGETS(function) \
    __attribute__((constructor)) static void forgets_by_##function(void) { when_server_changes(function); }

#endif
