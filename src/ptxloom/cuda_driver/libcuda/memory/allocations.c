/* The table of all allocations, in order of addresses. */
#include "memory/allocations.h"

#include <stdlib.h>
#include <string.h>

#include "base/contexts.h"

static struct allocation *known; /* in order of addresses */
static size_t count, room;
static uint64_t made, used;

static size_t above(device_pointer address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (known[middle].start <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

struct allocation *allocation_at(device_pointer address) {
    size_t at = above(address);
    if (!at || address - known[at - 1].start >= known[at - 1].size) return NULL;
    return &known[at - 1];
}

/* Variables and foreign memory are parts of something counted elsewhere. */
static int is_counted(enum memory_kind kind) { return kind != VARIABLE_MEMORY && kind != FOREIGN_MEMORY; }

int allocation_add(device_pointer start, uint64_t size, enum memory_kind kind, uint64_t owner) {
    struct allocation *there = allocation_at(start);
    if (there && there->start == start) return SUCCESS;
    if (count == room) {
        size_t larger = room ? 2 * room : 64;
        struct allocation *moved = realloc(known, larger * sizeof *moved);
        if (!moved) return OUT_OF_MEMORY;
        known = moved;
        room = larger;
    }
    size_t at = above(start);
    memmove(known + at + 1, known + at, (count - at) * sizeof *known);
    known[at] = (struct allocation){.start = start, .size = size, .kind = kind, .id = ++made, .context = current_context(), .owner = owner};
    count++;
    if (is_counted(kind)) used += size;
    return SUCCESS;
}

void allocation_remove(struct allocation *one) {
    if (is_counted(one->kind)) used -= one->size;
    size_t at = (size_t)(one - known);
    memmove(one, one + 1, (count - at - 1) * sizeof *known);
    count--;
}

uint64_t allocation_id(void) { return ++made; }

void allocation_drop(device_pointer start) {
    struct allocation *one = allocation_at(start);
    if (one && one->start == start) allocation_remove(one);
}

void allocations_remove_of(uint64_t owner) {
    for (size_t i = count; i-- > 0;)
        if (known[i].owner == owner && known[i].kind == VARIABLE_MEMORY) allocation_remove(&known[i]);
}

static void allocations_forget(void) {
    count = 0;
    used = 0;
}
FORGETS(allocations_forget)

uint64_t memory_used(void) { return used; }
