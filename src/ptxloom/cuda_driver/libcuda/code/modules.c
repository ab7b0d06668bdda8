/* Modules and libraries: images, which the server reads; functions and variables by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "code/functions.h"
#include "code/images.h"
#include "code/modules.h"
#include "code/references.h"
#include "memory/allocations.h"
#include "streams/recordings.h"

static int loaded(void **handle, enum kind kind, struct part image, const char *path, const struct logs *logs) {
    struct answer answer;
    uint64_t head[2] = {logs->registers, strlen(path)};
    const struct part parts[] = {{head, sizeof head}, {path, head[1]}, image};
    int error = ask(LOAD, parts, 3, &answer);
    log_write(logs, 1, answer.data, error && error != DEVICE_UNAVAILABLE ? answer.size : 0);
    log_write(logs, 0, NULL, 0);
    if (error) return error;
    void *made = handle_new(kind, sizeof(struct module));
    struct module *module = object_of(kind, made);
    if (!module) return OUT_OF_MEMORY;
    memcpy(&module->number, answer.data, sizeof module->number);
    *handle = made;
    return SUCCESS;
}

static int load_data(void **handle, enum kind kind, const void *image, unsigned count, const int *options, void **values) {
    struct part part;
    struct logs logs;
    if (!handle || !image) return INVALID_VALUE;
    TRY(logs_of(count, options, values, &logs));
    TRY(image_part(image, &part));
    return loaded(handle, kind, part, "", &logs);
}

static int load_file(void **handle, enum kind kind, const char *path, const struct logs *logs) {
    struct part part;
    if (!handle || !path) return INVALID_VALUE;
    TRY(file_read(path, &part));
    int error = part.size ? loaded(handle, kind, part, path, logs) : INVALID_IMAGE;
    free((void *)(uintptr_t)part.data);
    return error;
}

EXPORTED int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    CONTEXT;
    return load_data(module, A_MODULE, image, count, options, values);
}

EXPORTED int cuModuleLoadData(void **module, const void *image) { return cuModuleLoadDataEx(module, image, 0, NULL, NULL); }
EXPORTED int cuModuleLoadFatBinary(void **module, const void *image) { return cuModuleLoadDataEx(module, image, 0, NULL, NULL); }

EXPORTED int cuModuleLoad(void **module, const char *path) {
    CONTEXT;
    struct logs none = {0};
    return load_file(module, A_MODULE, path, &none);
}

static int unload(void *handle) {
    struct module *module = module_of(handle);
    if (!module) return INVALID_HANDLE;
    uint64_t number = module->number;
    struct part part = {&number, sizeof number};
    functions_forget(handle);
    references_forget(handle);
    allocations_remove_of(number);
    handle_free(handle);
    return ask(UNLOAD, &part, 1, NULL);
}

EXPORTED int cuModuleUnload(void *handle) {
    DRIVER;
    HANDLE(handle);
    CURRENT;
    if (object_of(A_LIBRARY, handle)) return NOT_PERMITTED;
    if (!object_of(A_MODULE, handle)) return INVALID_HANDLE;
    TRY(capture_forbids());
    return unload(handle);
}

EXPORTED int cuModuleGetLoadingMode(int *mode) {
    DRIVER;
    if (!mode) return INVALID_VALUE;
    *mode = 2; /* lazy */
    return SUCCESS;
}

/* -- the contents of a module ------------------------------------------------------------------------------------------ */

static int variable(const void *handle, const char *name, device_pointer *start, size_t *bytes) {
    uint64_t number, found[2];
    struct answer answer;
    if (!name || !*name || (!start && !bytes)) return INVALID_VALUE;
    TRY(module_number(handle, &number));
    const struct part parts[] = {{&number, sizeof number}, {name, strlen(name)}};
    TRY(ask(GET_GLOBAL, parts, 2, &answer));
    memcpy(found, answer.data, sizeof found);
    TRY(allocation_add(found[0], found[1], VARIABLE_MEMORY, number));
    if (start) *start = found[0];
    if (bytes) *bytes = found[1];
    return SUCCESS;
}

EXPORTED int cuModuleGetGlobal_v2(device_pointer *start, size_t *bytes, void *module, const char *name) {
    DRIVER;
    HANDLE(module);
    CURRENT;
    return module_of(module) ? variable(module, name, start, bytes) : INVALID_HANDLE;
}

EXPORTED int cuModuleGetFunction(void **function, void *module, const char *name) {
    DRIVER;
    HANDLE(module);
    CURRENT;
    if (!function || !name || !*name) return INVALID_VALUE;
    return module_of(module) ? function_get(function, module, name) : INVALID_HANDLE;
}

static int list_functions(void *handle, uint32_t wanted, void **functions, uint32_t *count) {
    uint64_t number;
    struct answer answer;
    TRY(module_number(handle, &number));
    struct part part = {&number, sizeof number};
    TRY(ask(LIST_FUNCTIONS, &part, 1, &answer));
    char *names = malloc(answer.size + 1);
    if (!names) return OUT_OF_MEMORY;
    memcpy(names, answer.data, answer.size);
    names[answer.size] = 0;
    int error = SUCCESS;
    *count = 0;
    for (char *name = names; name < names + answer.size && !error; name += strlen(name) + 1, ++*count)
        if (functions && *count < wanted) error = function_get(&functions[*count], handle, name);
    free(names);
    return error;
}

EXPORTED int cuModuleGetFunctionCount(unsigned *count, void *module) {
    GIVEN(count);
    CONTEXT;
    return module_of(module) ? list_functions(module, 0, NULL, count) : INVALID_HANDLE;
}

EXPORTED int cuModuleEnumerateFunctions(void **functions, unsigned wanted, void *module) {
    GIVEN(functions);
    CONTEXT;
    unsigned count;
    return module_of(module) ? list_functions(module, wanted, functions, &count) : INVALID_HANDLE;
}

/* -- libraries: modules without a context ------------------------------------------------------------------------------ */

EXPORTED int cuLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count, int *library_options,
                               void **library_values, unsigned library_count) {
    GIVEN(library);
    DRIVER;
    if (library_count && (!library_options || !library_values)) return INVALID_VALUE;
    return load_data(library, A_LIBRARY, image, count, options, values);
}

EXPORTED int cuLibraryLoadFromFile(void **library, const char *path, int *options, void **values, unsigned count, int *library_options,
                                   void **library_values, unsigned library_count) {
    GIVEN(library);
    DRIVER;
    struct logs logs;
    if (library_count && (!library_options || !library_values)) return INVALID_VALUE;
    TRY(logs_of(count, options, values, &logs));
    return load_file(library, A_LIBRARY, path, &logs);
}

EXPORTED int cuLibraryUnload(void *library) {
    HANDLE(library);
    DRIVER;
    return object_of(A_LIBRARY, library) ? unload(library) : INVALID_HANDLE;
}

EXPORTED int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    GIVEN(kernel && name);
    DRIVER;
    return object_of(A_LIBRARY, library) ? function_get(kernel, library, name) : INVALID_HANDLE;
}

EXPORTED int cuLibraryGetKernelCount(unsigned *count, void *library) {
    GIVEN(count);
    DRIVER;
    return object_of(A_LIBRARY, library) ? list_functions(library, 0, NULL, count) : INVALID_HANDLE;
}

EXPORTED int cuLibraryEnumerateKernels(void **kernels, unsigned wanted, void *library) {
    GIVEN(kernels);
    DRIVER;
    unsigned count;
    return object_of(A_LIBRARY, library) ? list_functions(library, wanted, kernels, &count) : INVALID_HANDLE;
}

/* A library is its own module. */
EXPORTED int cuLibraryGetModule(void **module, void *library) {
    GIVEN(module);
    CONTEXT;
    if (!object_of(A_LIBRARY, library)) return INVALID_HANDLE;
    *module = library;
    return SUCCESS;
}

EXPORTED int cuLibraryGetGlobal(device_pointer *start, size_t *bytes, void *library, const char *name) {
    GIVEN((start || bytes) && name && *name);
    CONTEXT;
    return object_of(A_LIBRARY, library) ? variable(library, name, start, bytes) : INVALID_HANDLE;
}

EXPORTED int cuLibraryGetManaged(device_pointer *start, size_t *bytes, void *library, const char *name) {
    GIVEN((start || bytes) && name && *name);
    CONTEXT;
    return object_of(A_LIBRARY, library) ? variable(library, name, start, bytes) : INVALID_HANDLE;
}
