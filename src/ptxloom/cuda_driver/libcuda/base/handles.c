/* Handles: programs get numbers, which the table maps to objects if their kind is right. */
#include <stdint.h>
#include <stdlib.h>

#include "base/handles.h"

struct entry {
    enum kind kind; /* 0: free */
    uint32_t turn;  /* so that a stale handle does not match a later one in its slot */
    void *object;
};

enum { TURN_BITS = 14, PLACE_BITS = 26, LOW_BITS = 4 };
static struct entry *entries;
static size_t count, room;
static size_t next_free;

static void *handle_at(size_t place) {
    uint64_t turn = entries[place].turn & ((1u << TURN_BITS) - 1);
    return (void *)(uintptr_t)((turn << PLACE_BITS | (place + 1)) << LOW_BITS);
}

static struct entry *entry_of(const void *handle) {
    uint64_t number = (uint64_t)(uintptr_t)handle;
    size_t place = (size_t)(number >> LOW_BITS & ((1u << PLACE_BITS) - 1));
    if (place == 0 || place > count || handle_at(place - 1) != handle) return NULL;
    return &entries[place - 1];
}

int handle_gone(const void *handle) {
    uint64_t number = (uint64_t)(uintptr_t)handle;
    size_t place = (size_t)(number >> LOW_BITS & ((1u << PLACE_BITS) - 1));
    uint64_t turn = number >> LOW_BITS >> PLACE_BITS;
    return place && place <= count && !(number & ((1u << LOW_BITS) - 1)) && turn < entries[place - 1].turn;
}

static int more_room(void) {
    size_t larger = room ? 2 * room : 256;
    if (larger >= 1u << PLACE_BITS) return 0;
    struct entry *moved = realloc(entries, larger * sizeof *moved);
    if (!moved) return 0;
    entries = moved;
    room = larger;
    return 1;
}

void *handle_new(enum kind kind, size_t object_bytes) {
    while (next_free < count && entries[next_free].kind) next_free++;
    if (next_free == room && !more_room()) return NULL;
    void *object = calloc(1, object_bytes ? object_bytes : 1);
    if (!object) return NULL;
    if (next_free == count) entries[count++] = (struct entry){0};
    struct entry *entry = &entries[next_free];
    entry->kind = kind;
    entry->object = object;
    return handle_at(next_free);
}

void *object_of(enum kind kind, const void *handle) {
    struct entry *entry = entry_of(handle);
    return entry && entry->kind == kind ? entry->object : NULL;
}

void handle_free(const void *handle) {
    struct entry *entry = entry_of(handle);
    if (!entry || !entry->kind) return;
    free(entry->object);
    entry->object = NULL;
    entry->kind = 0;
    entry->turn++;
    if ((size_t)(entry - entries) < next_free) next_free = (size_t)(entry - entries);
}

void handles_forget(void) {
    for (size_t i = 0; i < count; i++)
        if (entries[i].kind) handle_free(handle_at(i));
}

void *handle_next(enum kind kind, size_t *place) {
    while (*place < count) {
        size_t at = (*place)++;
        if (entries[at].kind == kind) return handle_at(at);
    }
    return NULL;
}
