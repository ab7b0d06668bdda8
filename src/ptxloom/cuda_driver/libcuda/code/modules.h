/* Modules, and their numbers in the server. */
#ifndef PTXLOOM_MODULES_H
#define PTXLOOM_MODULES_H

#include "base/contexts.h"

struct module {
    uint64_t number; /* the server's */
};
struct module *module_of(const void *handle); /* a library is its own module; NULL if the handle is neither */
int module_number(const void *module, uint64_t *number);

#endif
