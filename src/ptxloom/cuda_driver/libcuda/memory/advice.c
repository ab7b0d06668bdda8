/* Programs' advice on managed memory, and its last prefetch location: returned on request, without any other effect. */
#include <stdlib.h>
#include <string.h>

#include "memory/advice.h"

enum { PAGE = 4096 };
enum attribute { READ_MOSTLY = 1, PREFERRED, ACCESSED_BY, PREFETCHED, PREFERRED_TYPE, PREFERRED_ID, PREFETCHED_TYPE, PREFETCHED_ID };
enum { THE_HOST = -1, NOBODY = -2 };

/* Consecutive pages with the same advice. */
struct pages {
    device_pointer start, end;
    int is_read_mostly, by_device, by_host;
    struct location preferred, prefetched;
};
static struct pages *all; /* unordered */
static size_t count, room;

static void advice_forget(void) { count = 0; }
FORGETS(advice_forget)

void advice_drop(device_pointer start, uint64_t size) {
    for (size_t i = count; i-- > 0;)
        if (all[i].start >= start / PAGE * PAGE && all[i].start < start + size) all[i] = all[--count];
}

static int add(struct pages pages) {
    if (count == room) {
        size_t larger = room ? 2 * room : 16;
        struct pages *moved = realloc(all, larger * sizeof *moved);
        if (!moved) return OUT_OF_MEMORY;
        all = moved;
        room = larger;
    }
    all[count++] = pages;
    return SUCCESS;
}

static uint64_t page_end(device_pointer address) { return (address + PAGE - 1) / PAGE * PAGE; }

static int split(device_pointer at) {
    for (size_t i = 0; i < count; i++) {
        if (all[i].start >= at || at >= all[i].end) continue;
        struct pages behind = all[i];
        behind.start = at;
        TRY(add(behind));
        all[i].end = at;
        return SUCCESS;
    }
    return SUCCESS;
}

static int is_known(device_pointer start) {
    for (size_t i = 0; i < count; i++)
        if (all[i].start <= start && start < all[i].end) return 1;
    return 0;
}

/* Split the known pages so that a range consists of whole entries. */
static int open_range(device_pointer start, uint64_t size) {
    const struct allocation *one = allocation_at(start);
    if (!is_known(start)) TRY(add((struct pages){.start = one->start / PAGE * PAGE, .end = page_end(one->start + one->size)}));
    TRY(split(start / PAGE * PAGE));
    return split(page_end(start + size));
}

static int is_within(const struct pages *pages, device_pointer start, uint64_t size) {
    return pages->end > start && pages->start < start + size;
}

/* Anything that is not a device is the host. */
static struct location simply(struct location where) { return where.type == ON_DEVICE ? where : (struct location){ON_HOST, THE_HOST}; }

static void note(struct pages *pages, int advice, struct location where) {
    int *by = where.type == ON_DEVICE ? &pages->by_device : &pages->by_host;
    switch (advice) {
    case SET_READ_MOSTLY:
    case UNSET_READ_MOSTLY: pages->is_read_mostly = advice == SET_READ_MOSTLY; break;
    case SET_PREFERRED: pages->preferred = where; break;
    case UNSET_PREFERRED: pages->preferred = (struct location){0}; break;
    case SET_ACCESSED_BY:
    case UNSET_ACCESSED_BY: *by = advice == SET_ACCESSED_BY; break;
    case MOVED: pages->prefetched = where; break;
    default: break;
    }
}

int advice_keep(device_pointer start, uint64_t size, enum advice advice, struct location where) {
    TRY(open_range(start, size));
    for (size_t i = 0; i < count; i++)
        if (is_within(&all[i], start, size)) note(&all[i], advice, simply(where));
    return SUCCESS;
}

/* -- queries: the advice common to all pages -------------------------------------------------------------------- */

static int number_of(struct location where) { return where.type == NOWHERE ? NOBODY : where.id; }

static int value_of(const struct pages *pages, int attribute) {
    switch (attribute) {
    case READ_MOSTLY: return pages->is_read_mostly;
    case PREFERRED_TYPE: return pages->preferred.type;
    case PREFETCHED_TYPE: return pages->prefetched.type;
    case PREFERRED:
    case PREFERRED_ID: return number_of(pages->preferred);
    default: return number_of(pages->prefetched);
    }
}

static int common(int attribute, device_pointer start, uint64_t size) {
    const struct pages none = {0};
    int found = value_of(&none, attribute), is_first = 1;
    for (size_t i = 0; i < count; i++) {
        if (!is_within(&all[i], start, size)) continue;
        int value = value_of(&all[i], attribute);
        if (!is_first && value != found) return value_of(&none, attribute);
        found = value;
        is_first = 0;
    }
    return found;
}

static void put_accessors(int *into, size_t places, device_pointer start, uint64_t size) {
    int by_device = is_known(start), by_host = is_known(start);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_within(&all[i], start, size)) continue;
        by_device &= all[i].by_device;
        by_host &= all[i].by_host;
    }
    if (by_device && at < places) into[at++] = 0;
    if (by_host && at < places) into[at++] = THE_HOST;
    while (at < places) into[at++] = NOBODY;
}

int advice_legal(const void *data, size_t width, int attribute) {
    enum { NUMBER = sizeof(int) };
    if (!data || attribute < READ_MOSTLY || attribute > PREFETCHED_ID) return INVALID_VALUE;
    if (attribute == ACCESSED_BY) return width && width % NUMBER == 0 ? SUCCESS : INVALID_VALUE;
    return width == NUMBER ? SUCCESS : INVALID_VALUE;
}

void advice_tell(int *into, size_t width, int attribute, device_pointer start, uint64_t size) {
    if (attribute == ACCESSED_BY) put_accessors(into, width / sizeof *into, start, size);
    else *into = common(attribute, start, size);
}
