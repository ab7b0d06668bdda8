/* Functions of modules, and their properties. */
#ifndef PTXLOOM_FUNCTIONS_H
#define PTXLOOM_FUNCTIONS_H

#include "base/contexts.h"

enum { PARAMETERS = 4096, FUNCTION_ATTRIBUTES = 32 };
/* The attributes used here, of CUfunction_attribute, and further data from the server. */
enum function_attribute {
    MAX_THREADS = 0,
    STATIC_SHARED = 1,
    REGISTERS = 4,
    MAX_DYNAMIC_SHARED = 8,
    REQUIRED_CLUSTER = 11, /* and the two after it */
    NON_PORTABLE_CLUSTER = 14,
    REQUIRED_BLOCK = FUNCTION_ATTRIBUTES - 3, /* and the two after it */
};
struct function {
    uint64_t number; /* the server's */
    void *module;    /* its handle */
    int32_t attributes[FUNCTION_ATTRIBUTES];
    uint32_t parameter_bytes, parameter_count;
    struct {
        uint32_t offset, size;
    } *parameters;
    char *name;
    struct old_launch *old; /* set by the functions of old launches */
};
int function_get(void **function, void *module, const char *name); /* the same handle each time */
void functions_forget(const void *module);
int resident(const void *function, int64_t threads, int64_t shared_bytes); /* the number of CTAs that fit on a multiprocessor */

#endif
