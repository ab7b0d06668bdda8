/* Texture and surface objects: numbers from the server, and the description of each. */
#include "arrays/textures.h"
#include "base/contexts.h"
#include "base/handles.h"

#include <stdlib.h>
#include <string.h>

struct object {
    uint64_t number;
    int is_surface;
    struct resource resource;
    struct sampler how;
    struct view view;
};

static struct object *objects; /* in the order of their numbers */
static size_t count, room;

static void objects_forget(void) { count = 0; }
FORGETS(objects_forget)

static struct object *object_at(uint64_t number, int is_surface) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (objects[middle].number < number) low = middle + 1;
        else high = middle;
    }
    const int there = low < count && objects[low].number == number && objects[low].is_surface == is_surface;
    return there ? &objects[low] : NULL;
}

static int object_new(const struct image *image, struct object made, uint64_t *number) {
    if (count == room) {
        size_t larger = room ? 2 * room : 16;
        struct object *moved = realloc(objects, larger * sizeof *moved);
        if (!moved) return OUT_OF_MEMORY;
        objects = moved;
        room = larger;
    }
    TRY(image_show(image, &made.number));
    objects[count++] = made;
    *number = made.number;
    return SUCCESS;
}

/* Destroying one that does not exist succeeds, as in NVIDIA's driver. */
static int object_destroy(uint64_t number, int is_surface) {
    CONTEXT;
    struct object *one = object_at(number, is_surface);
    if (!one) return SUCCESS;
    memmove(one, one + 1, (size_t)(objects + count - one - 1) * sizeof *one);
    count--;
    return image_drop(number);
}

/* As in NVIDIA's driver: one row has no pitch, zero rows mean linear memory, and a destroyed array is NULL. */
static struct resource told(const struct object *one) {
    struct resource r = one->resource;
    if (r.type == ARRAY_RESOURCE && !object_of(AN_ARRAY, r.of.array)) r.of.array = NULL;
    if (r.type == MIPMAP_RESOURCE && !object_of(A_MIPMAP, r.of.array)) r.of.array = NULL;
    if (r.type != PITCHED_RESOURCE || r.of.memory.height > 1) return r;
    if (!r.of.memory.height) {
        r.type = LINEAR_RESOURCE;
        r.of.memory.width = r.of.memory.pitch;
    }
    r.of.memory.pitch = 0;
    return r;
}

EXPORTED int cuTexObjectCreate(uint64_t *texture, const struct resource *resource, const struct sampler *how, const struct view *view) {
    CONTEXT;
    struct image image;
    if (!texture || !resource || !how) return INVALID_VALUE;
    TRY(texture_image(resource, how, view, &image));
    struct object made = {.resource = *resource, .how = *how};
    if (view && (resource->type == ARRAY_RESOURCE || resource->type == MIPMAP_RESOURCE)) made.view = *view;
    for (int i = 0; i < 3; i++)
        if (how->modes[i] < WRAP_MODE || how->modes[i] > BORDER_MODE) made.how.modes[i] = CLAMP_MODE;
    memset(made.how.border, 0, sizeof made.how.border); /* NVIDIA's driver does not return it */
    return object_new(&image, made, texture);
}

EXPORTED int cuTexObjectDestroy(uint64_t texture) { return object_destroy(texture, 0); }

EXPORTED int cuTexObjectGetResourceDesc(struct resource *resource, uint64_t texture) {
    CONTEXT;
    const struct object *one = object_at(texture, 0);
    if (!resource || !one) return INVALID_VALUE;
    *resource = told(one);
    return SUCCESS;
}

EXPORTED int cuTexObjectGetTextureDesc(struct sampler *how, uint64_t texture) {
    CONTEXT;
    const struct object *one = object_at(texture, 0);
    if (!how || !one) return INVALID_VALUE;
    *how = one->how;
    return SUCCESS;
}

EXPORTED int cuTexObjectGetResourceViewDesc(struct view *view, uint64_t texture) {
    CONTEXT;
    const struct object *one = object_at(texture, 0);
    if (!view || !one) return INVALID_VALUE;
    *view = one->view;
    return SUCCESS;
}

EXPORTED int cuSurfObjectCreate(uint64_t *surface, const struct resource *resource) {
    CONTEXT;
    struct image image;
    if (!surface || !resource) return INVALID_VALUE;
    TRY(surface_image(resource, &image));
    return object_new(&image, (struct object){.is_surface = 1, .resource = *resource}, surface);
}

EXPORTED int cuSurfObjectDestroy(uint64_t surface) { return object_destroy(surface, 1); }

EXPORTED int cuSurfObjectGetResourceDesc(struct resource *resource, uint64_t surface) {
    CONTEXT;
    const struct object *one = object_at(surface, 1);
    if (!resource || !one) return INVALID_VALUE;
    *resource = told(one);
    return SUCCESS;
}
