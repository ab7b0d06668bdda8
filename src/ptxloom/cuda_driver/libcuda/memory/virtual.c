/* Memory that programs map themselves: reserved addresses, pieces of memory, mappings. Addresses are assigned
   here, from a range that both processes reserve. Pieces of memory are files of the server's,
   which both map at the same place. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/connection.h"
#include "base/handles.h"
#include "base/origin.h"
#include "memory/pools.h"
#include "memory/virtual.h"

#define UNIT ((uint64_t)2 << 20) /* the granularity of memory and mappings */
enum { TO_FILE = 1, READ = 1, READ_WRITE = 3 };
enum step { RANGE = 1, CREATE, IMPORT, RELEASE, MAP, UNMAP, ACCESS };

struct properties {
    int type, handles;
    struct location where;
    void *metadata;
    unsigned char compression, direct;
    unsigned short usage;
    unsigned char reserved[4];
};

struct physical {
    uint64_t number; /* the server's */
    uint64_t size;
    struct properties properties;
    uint64_t handles, mappings; /* their numbers; it is released with the last */
    int file; /* of the server's process, */
    int process;
};

/* -- the program's reservations and mappings, unordered, as they are few ----------------------------------------- */

enum { MOST = 1 << 16 };
struct span {
    device_pointer start;
    uint64_t size;
    void *memory; /* NULL: reserved only */
    int flags;
};
static struct span *spans;
static size_t count;
static struct {
    uint64_t start, size, next;
} range;

static void virtual_forget(void) {
    if (range.size) munmap((void *)(uintptr_t)range.start, range.size);
    memset(&range, 0, sizeof range);
    count = 0;
}
FORGETS(virtual_forget)

int virtual_holds(device_pointer address) { return address - range.start < range.size; }

static int inside(const struct span *outer, device_pointer start, uint64_t size) {
    return start >= outer->start && size <= outer->size && start - outer->start <= outer->size - size;
}

static struct span *find(device_pointer start, uint64_t size, int mapped) {
    for (size_t i = 0; i < count; i++)
        if (!spans[i].memory == !mapped && inside(&spans[i], start, size)) return &spans[i];
    return NULL;
}

static int overlaps(device_pointer start, uint64_t size) {
    for (size_t i = 0; i < count; i++)
        if (spans[i].memory && start < spans[i].start + spans[i].size && spans[i].start < start + size) return 1;
    return 0;
}

static int add(device_pointer start, uint64_t size, void *memory) {
    if (count == MOST) return OUT_OF_MEMORY;
    if (!spans && !(spans = calloc(MOST, sizeof *spans))) return OUT_OF_MEMORY;
    spans[count++] = (struct span){start, size, memory, 0};
    return SUCCESS;
}

static int tell(enum step step, uint64_t first, uint64_t second, uint64_t third, uint64_t told[3]) {
    char origin[512] = "";
    if (step == CREATE) call_origin(origin, sizeof origin);
    uint64_t numbers[4] = {(uint64_t)step, first, second, third};
    const struct part parts[] = {{numbers, sizeof numbers}, {origin, strlen(origin)}};
    struct answer answer;
    TRY(ask(VIRTUAL, parts, 2, &answer));
    if (answer.size != 3 * sizeof *told) return DEVICE_UNAVAILABLE;
    memcpy(told, answer.data, answer.size);
    return SUCCESS;
}

static int put(device_pointer start, uint64_t size, int protection, int flags, int file) {
    void *wanted = (void *)(uintptr_t)start;
    if (mmap(wanted, size, protection, flags | MAP_FIXED | MAP_NORESERVE, file, 0) != wanted) return OUT_OF_MEMORY;
    if (file >= 0) madvise(wanted, size, MADV_DONTFORK);
    return SUCCESS;
}

static int open_range(void) {
    uint64_t told[3];
    if (range.size) return SUCCESS;
    TRY(tell(RANGE, 0, 0, 0, told));
    void *wanted = (void *)(uintptr_t)told[0];
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *found = mmap(wanted, told[1], PROT_NONE, flags, -1, 0);
    if (found != wanted) {
        if (found != MAP_FAILED) munmap(found, told[1]);
        return OUT_OF_MEMORY;
    }
    range.start = range.next = told[0];
    range.size = told[1];
    return SUCCESS;
}

/* -- addresses ------------------------------------------------------------------------------------------------------- */

/* An address with that many free bytes: after all others, or else in the first gap. */
static int find_free(uint64_t size, uint64_t alignment, device_pointer *start) {
    uint64_t at = (range.next + alignment - 1) / alignment * alignment;
    if (virtual_holds(at) && size <= range.start + range.size - at) {
        range.next = at + size;
        *start = at;
        return SUCCESS;
    }
    for (at = (range.start + alignment - 1) / alignment * alignment; virtual_holds(at) && size <= range.start + range.size - at;) {
        uint64_t beyond = 0;
        for (size_t i = 0; i < count; i++)
            if (at < spans[i].start + spans[i].size && spans[i].start < at + size && spans[i].start + spans[i].size > beyond)
                beyond = spans[i].start + spans[i].size;
        if (!beyond) {
            *start = at;
            return SUCCESS;
        }
        at = (beyond + alignment - 1) / alignment * alignment;
    }
    return OUT_OF_MEMORY;
}

EXPORTED int cuMemAddressReserve(device_pointer *start, size_t size, size_t alignment, device_pointer wanted, uint64_t flags) {
    DRIVER;
    (void)wanted; /* a hint */
    if (!start || !size || size % UNIT || alignment & (alignment - 1) || flags) return INVALID_VALUE;
    TRY(open_range());
    if (size > range.size || alignment > range.size) return OUT_OF_MEMORY;
    TRY(find_free(size, alignment > UNIT ? alignment : UNIT, start));
    return add(*start, size, NULL);
}

EXPORTED int cuMemAddressFree(device_pointer start, size_t size) {
    DRIVER;
    struct span *one = find(start, size, 0);
    if (!start || !size || !one || one->start != start || one->size != size || overlaps(start, size)) return INVALID_VALUE;
    *one = spans[--count];
    return SUCCESS;
}

/* -- memory ------------------------------------------------------------------------------------------------------------ */

static struct physical *physical_of(const void *handle) { return object_of(A_PHYSICAL, handle); }

static int properties_legal(const struct properties *p) {
    if (p->type != PINNED || p->handles & ~TO_FILE) return INVALID_VALUE;
    if (p->where.type == ON_DEVICE) return is_device(p->where.id) ? SUCCESS : INVALID_DEVICE;
    return p->where.type < ON_DEVICE || p->where.type > ON_HOST_NODE_NEAR ? INVALID_VALUE : SUCCESS; /* all memory is the host's */
}

EXPORTED int cuMemGetAllocationGranularity(size_t *size, const struct properties *p, int option) {
    DRIVER;
    if (!size || !p || option < 0 || option > 1) return INVALID_VALUE;
    *size = UNIT;
    return SUCCESS;
}

static int physical_new(void **handle, const struct properties *p, const uint64_t told[3]) {
    void *made = handle_new(A_PHYSICAL, sizeof(struct physical));
    struct physical *one = physical_of(made);
    if (!one) return OUT_OF_MEMORY;
    *one = (struct physical){told[0], told[1], *p, 1, 0, (int)told[2], server_process()};
    *handle = made;
    return SUCCESS;
}

EXPORTED int cuMemCreate(void **handle, size_t size, const struct properties *p, uint64_t flags) {
    DRIVER;
    uint64_t told[3];
    if (!handle || !p || !size || size % UNIT || flags) return INVALID_VALUE;
    TRY(properties_legal(p));
    TRY(tell(CREATE, size, 0, 0, told));
    return physical_new(handle, p, told);
}

static int drop_if_unused(void *handle, struct physical *one) {
    uint64_t told[3], number = one->number;
    if (one->handles || one->mappings) return SUCCESS;
    handle_free(handle);
    return tell(RELEASE, number, 0, 0, told);
}

EXPORTED int cuMemRelease(void *handle) {
    DRIVER;
    struct physical *one = physical_of(handle);
    if (!one || !one->handles) return INVALID_VALUE;
    one->handles--;
    return drop_if_unused(handle, one);
}

EXPORTED int cuMemRetainAllocationHandle(void **handle, void *address) {
    DRIVER;
    struct span *one = find((device_pointer)(uintptr_t)address, 1, 1);
    if (!handle || !one) return INVALID_VALUE;
    physical_of(one->memory)->handles++;
    *handle = one->memory;
    return SUCCESS;
}

EXPORTED int cuMemGetAllocationPropertiesFromHandle(struct properties *p, void *handle) {
    DRIVER;
    struct physical *one = physical_of(handle);
    if (!p || !one) return INVALID_VALUE;
    *p = one->properties;
    return SUCCESS;
}

/* -- mappings ---------------------------------------------------------------------------------------------------- */

static int open_file(int process, int file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
    return open(path, O_RDWR | O_CLOEXEC);
}

EXPORTED int cuMemMap(device_pointer start, size_t size, size_t offset, void *handle, uint64_t flags) {
    DRIVER;
    uint64_t told[3];
    struct physical *one = physical_of(handle);
    if (!one || !one->handles || !size || start % UNIT || flags) return INVALID_VALUE;
    if (offset || size != one->size) return NOT_SUPPORTED;
    if (!find(start, size, 0) || overlaps(start, size)) return INVALID_VALUE;
    int file = open_file(one->process, one->file);
    if (file < 0) return OUT_OF_MEMORY;
    int error = tell(MAP, start, size, one->number, told);
    if (!error) error = put(start, size, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    close(file);
    if (!error) error = add(start, size, handle);
    if (!error) one->mappings++;
    return error;
}

/* Whether a range consists of whole mappings, without gaps. */
static int covers(device_pointer start, uint64_t size) {
    uint64_t covered = 0;
    for (size_t i = 0; i < count; i++) {
        if (!spans[i].memory || spans[i].start >= start + size || start >= spans[i].start + spans[i].size) continue;
        if (spans[i].start < start || spans[i].start + spans[i].size > start + size) return 0;
        covered += spans[i].size;
    }
    return covered == size;
}

EXPORTED int cuMemUnmap(device_pointer start, size_t size) {
    DRIVER;
    uint64_t told[3];
    if (!start || !size || start % UNIT || size % UNIT || !find(start, size, 0)) return INVALID_VALUE;
    if (!overlaps(start, size)) return SUCCESS;
    if (!covers(start, size)) return INVALID_VALUE;
    for (size_t i = count; i-- > 0;) {
        struct span one = spans[i];
        if (!one.memory || one.start < start || one.start >= start + size) continue;
        TRY(tell(UNMAP, one.start, 0, 0, told));
        TRY(put(one.start, one.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
        allocation_drop(one.start);
        spans[i] = spans[--count];
        struct physical *memory = physical_of(one.memory);
        memory->mappings--;
        TRY(drop_if_unused(one.memory, memory));
    }
    return SUCCESS;
}

EXPORTED int cuMemSetAccess(device_pointer start, size_t size, const struct access *wanted, size_t wanted_count) {
    DRIVER;
    uint64_t told[3];
    if (!wanted || !wanted_count || !size || !covers(start, size)) return INVALID_VALUE;
    for (size_t i = 0; i < wanted_count; i++) {
        if (wanted[i].where.type != ON_DEVICE) return NOT_SUPPORTED;
        if (!is_device(wanted[i].where.id)) return INVALID_VALUE;
        if (wanted[i].flags && wanted[i].flags != READ && wanted[i].flags != READ_WRITE) return INVALID_VALUE;
    }
    int flags = wanted[wanted_count - 1].flags;
    TRY(tell(ACCESS, start, size, (uint64_t)flags, told));
    for (size_t i = 0; i < count; i++) {
        struct span *one = &spans[i];
        if (!one->memory || one->start < start || one->start >= start + size) continue;
        one->flags = flags;
        allocation_drop(one->start);
        if (flags) TRY(allocation_add(one->start, one->size, MAPPED_MEMORY, 0));
    }
    return SUCCESS;
}

EXPORTED int cuMemGetAccess(uint64_t *flags, const struct location *where, device_pointer address) {
    DRIVER;
    struct span *one = find(address, 1, 1);
    if (!flags || !where || !one) return INVALID_VALUE;
    if (where->type != ON_DEVICE || !is_device(where->id)) return INVALID_DEVICE;
    *flags = (uint64_t)one->flags;
    return SUCCESS;
}

uint64_t virtual_extent(device_pointer address, device_pointer *start) {
    struct span *one = find(address, 1, 0);
    if (one) *start = one->start;
    return one ? one->size : 0;
}

/* -- sharing through a file ---------------------------------------------------------------------------------------- */

EXPORTED int cuMemExportToShareableHandle(int *file, void *handle, int type, uint64_t flags) {
    DRIVER;
    struct physical *one = physical_of(handle);
    if (!file || !one || type != TO_FILE || flags || !(one->properties.handles & TO_FILE)) return INVALID_VALUE;
    int opened = open_file(one->process, one->file);
    if (opened < 0) return OUT_OF_MEMORY;
    *file = opened;
    return SUCCESS;
}

EXPORTED int cuMemImportFromShareableHandle(void **handle, void *file, int type) {
    DRIVER;
    uint64_t told[3];
    struct properties p = {.type = PINNED, .handles = TO_FILE, .where = {ON_DEVICE, 0}};
    if (!handle || type != TO_FILE) return INVALID_VALUE;
    TRY(tell(IMPORT, (uint64_t)getpid(), (uint64_t)(uintptr_t)file, 0, told));
    return physical_new(handle, &p, told);
}
