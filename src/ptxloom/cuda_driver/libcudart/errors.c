/* Errors: their names, and the last one of each thread. The numbers are the driver's; errors that only the runtime has
   have their own. */
#include <string.h>

#include "tables.h"

static __thread int last;

int told(int error) {
    if (error) last = error;
    return error;
}

EXPORTED int cudaGetLastError(void) {
    int error = last;
    last = SUCCESS;
    return error;
}

EXPORTED int cudaPeekAtLastError(void) { return last; }

static const struct error_name *named(int error) {
    for (int i = 0; i < error_name_count; i++)
        if (error_names[i].number == error) return &error_names[i];
    return NULL;
}

EXPORTED const char *cudaGetErrorName(int error) {
    const struct error_name *found = named(error);
    return found ? found->name : "unrecognized error code";
}

EXPORTED const char *cudaGetErrorString(int error) {
    const struct error_name *found = named(error);
    return found ? found->words : "unrecognized error code";
}

__attribute__((weak)) int ptxloom_function_missing(const char *name);

int function_missing(const char *name) {
    if (ptxloom_function_missing) ptxloom_function_missing(name);
    return told(NOT_SUPPORTED);
}
