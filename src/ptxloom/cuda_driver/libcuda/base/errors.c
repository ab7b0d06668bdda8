/* Names of errors and functions, and the calls that precede all others. */
#include <stdio.h>
#include <string.h>

#include "base/connection.h"
#include "names.h"

static const struct error_name *named(int error) {
    for (int i = 0; i < error_name_count; i++)
        if (error_names[i].number == error) return &error_names[i];
    return NULL;
}

const char *error_name(int error) {
    const struct error_name *found = named(error);
    return found ? found->name : "an error without a name";
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
    GIVEN(version);
    *version = driver_version;
    return SUCCESS;
}

EXPORTED int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status) {
    enum { FOUND, NOT_FOUND_AT_ALL, VERSION_NOT_SUFFICIENT };
    enum { LEGACY_STREAM = 1, THREAD_STREAM = 2 };
    const struct function_name *best = NULL;
    int known = 0;
    if (status) *status = NOT_FOUND_AT_ALL;
    if (!name || !address || flags > (LEGACY_STREAM | THREAD_STREAM) || version > driver_version) return INVALID_VALUE;
    for (int i = 0; i < function_name_count; i++) {
        if (strcmp(function_names[i].name, name)) continue;
        known = 1;
        if (version < 0 || function_names[i].version <= version) best = &function_names[i];
    }
    *address = best ? (void *)best->address : NULL;
    if (status) *status = best ? FOUND : known ? VERSION_NOT_SUFFICIENT : NOT_FOUND_AT_ALL;
    return SUCCESS;
}

EXPORTED int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags) {
    TRY(cuGetProcAddress_v2(name, address, version, flags, NULL));
    return *address ? SUCCESS : NOT_FOUND;
}
