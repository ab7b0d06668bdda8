/* Links: texts and files are collected until the server links them into one text, which takes the place of a cubin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contexts.h"
#include "base/handles.h"
#include "code/images.h"

enum { INPUT_LIMIT = 4096 };

struct link {
    uint64_t *heads; /* kind and size of each input */
    void **inputs;
    size_t count;
    char *made;
    struct logs logs;
};

static int add(struct link *link, int kind, const void *data, size_t size) {
    uint64_t *heads = realloc(link->heads, (link->count + 1) * 2 * sizeof *heads);
    if (!heads) return OUT_OF_MEMORY;
    link->heads = heads;
    void **inputs = realloc(link->inputs, (link->count + 1) * sizeof *inputs);
    if (!inputs) return OUT_OF_MEMORY;
    link->inputs = inputs;
    void *copy = malloc(size ? size : 1);
    if (!copy) return OUT_OF_MEMORY;
    memcpy(copy, data, size);
    heads[2 * link->count] = (uint64_t)kind;
    heads[2 * link->count + 1] = size;
    inputs[link->count++] = copy;
    return SUCCESS;
}

static void drop(struct link *link) {
    for (size_t i = 0; i < link->count; i++) free(link->inputs[i]);
    free(link->inputs);
    free(link->heads);
    free(link->made);
}

EXPORTED int cuLinkCreate_v2(unsigned count, int *options, void **values, void **handle) {
    CONTEXT;
    struct logs logs;
    if (!handle) return INVALID_VALUE;
    TRY(logs_of(count, options, values, &logs));
    void *made = handle_new(A_LINK, sizeof(struct link));
    struct link *link = object_of(A_LINK, made);
    if (!link) return OUT_OF_MEMORY;
    link->logs = logs;
    log_write(&logs, 0, NULL, 0);
    log_write(&logs, 1, NULL, 0);
    *handle = made;
    return SUCCESS;
}
SAME(cuLinkCreate, cuLinkCreate_v2);

EXPORTED int cuLinkAddData_v2(void *handle, int kind, void *data, size_t size, const char *name, unsigned count, int *options,
                              void **values) {
    HANDLE(handle);
    CONTEXT;
    struct link *link = object_of(A_LINK, handle);
    (void)name;
    if (!link) return INVALID_HANDLE;
    if (!data || !size || kind < 0 || kind > 5 || (count && (!options || !values))) return INVALID_VALUE;
    if (link->count == INPUT_LIMIT || size > IMAGE_LIMIT || readable(data, size) < size) return INVALID_VALUE;
    return add(link, kind, data, size);
}
SAME(cuLinkAddData, cuLinkAddData_v2);

EXPORTED int cuLinkAddFile_v2(void *handle, int kind, const char *path, unsigned count, int *options, void **values) {
    HANDLE(handle);
    CONTEXT;
    struct part part;
    if (!object_of(A_LINK, handle)) return INVALID_HANDLE;
    if (!path) return INVALID_VALUE;
    TRY(file_read(path, &part));
    int error = cuLinkAddData_v2(handle, kind, (void *)(uintptr_t)part.data, part.size, path, count, options, values);
    free((void *)(uintptr_t)part.data);
    return error;
}
SAME(cuLinkAddFile, cuLinkAddFile_v2);

EXPORTED int cuLinkComplete(void *handle, void **image, size_t *size) {
    HANDLE(handle);
    CONTEXT;
    struct link *link = object_of(A_LINK, handle);
    struct answer answer;
    if (!link) return INVALID_HANDLE;
    if (!image || link->count == 0) return INVALID_VALUE;
    struct part *parts = calloc(2 * link->count + 1, sizeof *parts);
    if (!parts) return OUT_OF_MEMORY;
    const uint64_t wanted[] = {link->logs.registers, link->logs.target};
    parts[2 * link->count] = (struct part){wanted, sizeof wanted};
    for (size_t i = 0; i < link->count; i++) {
        parts[2 * i] = (struct part){link->heads + 2 * i, 2 * sizeof *link->heads};
        parts[2 * i + 1] = (struct part){link->inputs[i], (size_t)link->heads[2 * i + 1]};
    }
    int error = ask(LINK, parts, (int)(2 * link->count + 1), &answer);
    free(parts);
    if (error) {
        log_write(&link->logs, 1, answer.data, error == DEVICE_UNAVAILABLE ? 0 : answer.size);
        return error;
    }
    free(link->made);
    link->made = malloc(answer.size + 1);
    if (!link->made) return OUT_OF_MEMORY;
    memcpy(link->made, answer.data, answer.size);
    link->made[answer.size] = 0;
    *image = link->made;
    if (size) *size = answer.size + 1;
    return SUCCESS;
}

EXPORTED int cuLinkDestroy(void *handle) {
    HANDLE(handle);
    CONTEXT;
    struct link *link = object_of(A_LINK, handle);
    if (!link) return INVALID_HANDLE;
    drop(link);
    handle_free(handle);
    return SUCCESS;
}
