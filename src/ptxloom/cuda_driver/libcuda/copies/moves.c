/* Carries out copies and fills. */
#include <string.h>

#include "base/connection.h"
#include "memory/memory.h"
#include "streams/work.h"

static unsigned char *row(device_pointer base, uint64_t pitch, uint64_t slice, uint64_t y, uint64_t z) {
    return (unsigned char *)(uintptr_t)(base + z * slice + y * pitch);
}

static void move_row(unsigned char *to, const unsigned char *from, uint64_t width) {
    device_pointer into = (device_pointer)(uintptr_t)to, out_of = (device_pointer)(uintptr_t)from;
    memmove(to, from, width);
    if (!device.marks || into - device.start >= device.size) return;
    if (out_of - device.start < device.size) memmove(to - device.start + device.marks, from - device.start + device.marks, width);
    else memory_written(into, width);
}

static int copy(const struct work *work) {
    const struct copy *c = &work->copy;
    if (c->width == 0 || c->height == 0 || c->depth == 0) return SUCCESS;
    for (uint64_t z = 0; z < c->depth; z++)
        for (uint64_t y = 0; y < c->height; y++)
            move_row(row(c->to, c->to_pitch, c->to_slice, y, z), row(c->from, c->from_pitch, c->from_slice, y, z), c->width);
    return SUCCESS;
}

static int fill(const struct work *work) {
    const struct fill *f = &work->fill;
    if (f->width == 0) return SUCCESS; /* its address may be invalid */
    for (uint64_t y = 0; y < f->height; y++) {
        unsigned char *to = row(f->to, f->pitch, 0, y, 0);
        if (f->element_bytes == 1) memset(to, (int)f->value, f->width);
        else
            for (uint64_t x = 0; x < f->width; x++) memcpy(to + x * f->element_bytes, &f->value, f->element_bytes);
        memory_written(f->to + y * f->pitch, f->width * f->element_bytes);
    }
    return SUCCESS;
}

static const struct way copies = {.run = copy}, fills = {.run = fill};
WORK(COPY_WORK, copies)
WORK(FILL_WORK, fills)
