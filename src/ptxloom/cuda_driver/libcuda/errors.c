/* Names of errors, of functions, and what is asked of a driver before anything else. */
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "names.h"

static const struct error_name *named(int error) {
    for (int i = 0; i < error_name_count; i++)
        if (error_names[i].number == error) return &error_names[i];
    return NULL;
}

EXPORTED int cuGetErrorName(int error, const char **name) {
    const struct error_name *found = named(error);
    if (!name) return INVALID_VALUE;
    *name = found ? found->name : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuGetErrorString(int error, const char **words) {
    const struct error_name *found = named(error);
    if (!words) return INVALID_VALUE;
    *words = found ? found->words : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuDriverGetVersion(int *version) {
    if (!version) return INVALID_VALUE;
    *version = driver_version;
    return SUCCESS;
}

EXPORTED int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status) {
    enum { FOUND, NOT_FOUND_AT_ALL, VERSION_NOT_SUFFICIENT };
    const struct function_name *best = NULL;
    int known = 0;
    if (status) *status = NOT_FOUND_AT_ALL;
    if (!name || !address || flags > 2) return INVALID_VALUE;
    for (int i = 0; i < function_name_count; i++) {
        if (strcmp(function_names[i].name, name)) continue;
        known = 1;
        if (function_names[i].version <= version) best = &function_names[i];
    }
    *address = best ? (void *)best->address : NULL;
    if (status) *status = best ? FOUND : known ? VERSION_NOT_SUFFICIENT : NOT_FOUND_AT_ALL;
    if (best || status) return SUCCESS;
    return NOT_FOUND;
}

EXPORTED int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, address, version, flags, NULL);
}
