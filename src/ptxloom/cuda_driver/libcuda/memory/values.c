/* Values in memory that streams write, and wait for. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/contexts.h"
#include "memory/memory.h"
#include "memory/values.h"
#include "streams/recordings.h"

enum operation_kind { WAIT_32 = 1, WRITE_32 = 2, FLUSH = 3, WAIT_64 = 4, WRITE_64 = 5, BARRIER = 6 };
enum { FLUSHES = 1 << 30, HOW = 3, MOST_AT_ONCE = 256 };

static int waits(int kind) { return kind == WAIT_32 || kind == WAIT_64; }
static unsigned bytes_of(int kind) { return kind == WAIT_32 || kind == WRITE_32 ? 4 : 8; }

static int is_settable(device_pointer address) {
    struct allocation *one = allocation_at(address);
    return in_device(address) && (!one || one->kind != MANAGED_MEMORY);
}

int value_known(const struct value *v) {
    if (v->kind == BARRIER) return SUCCESS;
    if (v->kind == FLUSH) return NOT_SUPPORTED;
    if (v->kind < WAIT_32 || v->kind > BARRIER) return INVALID_VALUE;
    if (waits(v->kind) && v->flags & FLUSHES) return NOT_SUPPORTED;
    if (waits(v->kind) ? v->flags > HOW : v->flags) return INVALID_VALUE;
    return (v->address % bytes_of(v->kind)) ? INVALID_VALUE : SUCCESS;
}

static int legal(const struct value *v) {
    TRY(value_known(v));
    if (v->kind == BARRIER) return SUCCESS;
    if (!reachable(v->address, bytes_of(v->kind))) return INVALID_VALUE;
    return waits(v->kind) ? in_device(v->address) ? SUCCESS : INVALID_VALUE : is_settable(v->address) ? SUCCESS : INVALID_VALUE;
}

static int holds(uint64_t there, uint64_t value, unsigned size, unsigned how) {
    switch (how) {
    case 0: return size == 4 ? (int32_t)(there - value) >= 0 : (int64_t)(there - value) >= 0;
    case 1: return there == value;
    case 2: return (there & value) != 0;
    default: return (there | value) != (size == 4 ? UINT32_MAX : UINT64_MAX); /* a bit that is set in neither */
    }
}

/* If the value is not there, only another thread of the program can write it: all work is done. */
static int wait(const struct value *v) {
    unsigned size = bytes_of(v->kind);
    uint64_t wanted = size == 4 ? (uint32_t)v->value : v->value;
    for (;;) {
        struct timespec moment = {0, 100000};
        uint64_t there = 0;
        if (driver_error() || !reachable(v->address, size)) return INVALID_VALUE;
        memcpy(&there, (void *)(uintptr_t)v->address, size);
        if (holds(there, wanted, size, v->flags & HOW)) return SUCCESS;
        int times = lock_release();
        nanosleep(&moment, NULL);
        lock_take(times);
    }
}

static int value_do(const struct value *v) {
    unsigned size = bytes_of(v->kind);
    if (v->kind == BARRIER) return SUCCESS;
    if (waits(v->kind)) return wait(v);
    if (!reachable(v->address, size)) return INVALID_VALUE;
    memcpy((void *)(uintptr_t)v->address, &v->value, size);
    memory_written(v->address, size);
    return SUCCESS;
}

static int do_each(const struct work *work) {
    const struct values *values = &work->values;
    for (unsigned i = 0; i < values->count; i++) TRY(value_do(&values->all[i]));
    return SUCCESS;
}

static int copied(struct work *copy) {
    const struct value *theirs = copy->values.all;
    const size_t bytes = copy->values.count * sizeof *theirs;
    copy->values.all = malloc(bytes ? bytes : 1);
    if (!copy->values.all) return OUT_OF_MEMORY;
    if (bytes) memcpy(copy->values.all, theirs, bytes);
    return SUCCESS;
}

static void dropped(struct work *work) { free(work->values.all); }

static const struct way writes = {do_each, copied, dropped};
WORK(VALUE_WORK, writes)

static int submit(void *stream, struct value *all, unsigned count) {
    struct work work = {.kind = VALUE_WORK, .values = {current_context(), all, count}};
    return work_submit(stream, &work);
}

static int one(void *handle, int kind, device_pointer address, uint64_t value, unsigned flags) {
    CONTEXT;
    struct stream *stream;
    struct value v = {.kind = kind, .flags = flags, .address = address, .value = value};
    TRY(stream_of(handle, &stream));
    TRY(legal(&v));
    return submit(handle, &v, 1);
}

EXPORTED int cuStreamWriteValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags) {
    return one(stream, WRITE_32, address, value, flags);
}
EXPORTED int cuStreamWriteValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags) {
    return one(stream, WRITE_64, address, value, flags);
}
EXPORTED int cuStreamWaitValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags) {
    return one(stream, WAIT_32, address, value, flags);
}
EXPORTED int cuStreamWaitValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags) {
    return one(stream, WAIT_64, address, value, flags);
}

EXPORTED int cuStreamBatchMemOp_v2(void *handle, unsigned count, struct value *all, unsigned flags) {
    CONTEXT;
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    if (flags || count > MOST_AT_ONCE || (count && !all)) return INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) TRY(legal(&all[i])); /* check all before doing any */
    return count ? submit(handle, all, count) : SUCCESS;
}
