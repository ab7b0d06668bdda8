/* The driver's log: missing functions, and kernels that were ended. Wrong calls return an error instead. */
#include <stdio.h>
#include <string.h>

#include "base/connection.h"
#include "base/handles.h"
#include "base/logs.h"

enum { ENTRIES = 100, TEXT_BYTES = 256, LEAST_BYTES = 2, AN_ERROR = 0 };

typedef void hearer(void *data, int level, char *message, size_t length);
struct callback {
    hearer *function;
    void *data;
    uint64_t number;
};

static char entries[ENTRIES][TEXT_BYTES]; /* the last ones */
static unsigned written;
static uint64_t registered;
static __thread int is_heard; /* in a callback: entries are written, but not passed to this thread's callbacks */

static void tell(const char *entry) {
    const uint64_t last = registered;
    size_t place = 0;
    if (is_heard) return;
    for (void *handle; (handle = handle_next(A_LOG_CALLBACK, &place));) {
        const struct callback *one = object_of(A_LOG_CALLBACK, handle);
        if (one->number > last) continue;
        hearer *function = one->function;
        void *data = one->data;
        char message[TEXT_BYTES];
        strcpy(message, entry);
        int times = lock_release();
        is_heard = 1;
        function(data, AN_ERROR, message, strlen(message));
        is_heard = 0;
        lock_take(times);
    }
}

void write_down(const char *what, const char *which) {
    char *entry = entries[written++ % ENTRIES];
    snprintf(entry, TEXT_BYTES, "%s: %s", what, which);
    char kept[TEXT_BYTES];
    strcpy(kept, entry);
    tell(kept);
}

EXPORTED int cuLogsRegisterCallback(hearer *function, void *data, void **handle) {
    GIVEN(function);
    LOCKED;
    void *made = handle_new(A_LOG_CALLBACK, sizeof(struct callback));
    struct callback *one = object_of(A_LOG_CALLBACK, made);
    if (!one) return OUT_OF_MEMORY;
    *one = (struct callback){function, data, ++registered};
    if (handle) *handle = made;
    return SUCCESS;
}

EXPORTED int cuLogsUnregisterCallback(void *handle) {
    LOCKED;
    if (!object_of(A_LOG_CALLBACK, handle)) return INVALID_VALUE;
    handle_free(handle);
    return SUCCESS;
}

EXPORTED int cuLogsCurrent(unsigned *iterator, unsigned flags) {
    LOCKED;
    (void)flags;
    if (!iterator) return INVALID_VALUE;
    *iterator = written;
    return SUCCESS;
}

static unsigned oldest(void) { return written > ENTRIES ? written - ENTRIES : 0; }

/* The first entry written after an iterator was taken that is still there. */
static int first_of(const unsigned *iterator, unsigned *first) {
    *first = oldest();
    if (!iterator) return SUCCESS;
    if (*iterator > written) return INVALID_VALUE;
    if (*iterator > *first) *first = *iterator;
    return SUCCESS;
}

EXPORTED int cuLogsDumpToMemory(unsigned *iterator, char *buffer, size_t *size, unsigned flags) {
    LOCKED;
    unsigned at;
    size_t used = 0;
    (void)flags;
    if (!buffer || !size || *size < LEAST_BYTES) return INVALID_VALUE;
    TRY(first_of(iterator, &at));
    for (; at < written; at++) {
        const char *entry = entries[at % ENTRIES];
        if (strlen(entry) + LEAST_BYTES > *size - used) break;
        used += (size_t)sprintf(buffer + used, "%s\n", entry);
    }
    buffer[used] = 0;
    *size = used;
    if (iterator) *iterator = at;
    return SUCCESS;
}

EXPORTED int cuLogsDumpToFile(unsigned *iterator, const char *path, unsigned flags) {
    LOCKED;
    unsigned at;
    (void)flags;
    GIVEN(path);
    TRY(first_of(iterator, &at));
    FILE *out = fopen(path, "we");
    if (!out) return INVALID_VALUE;
    for (; at < written; at++) fprintf(out, "%s\n", entries[at % ENTRIES]);
    if (iterator) *iterator = at;
    return fclose(out) ? INVALID_VALUE : SUCCESS;
}
