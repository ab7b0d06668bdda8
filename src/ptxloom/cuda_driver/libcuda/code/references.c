/* References: variables of a module that stand for a texture or a surface, in old programs. */
#include <string.h>

#include "arrays/textures.h"
#include "base/contexts.h"
#include "base/handles.h"
#include "code/modules.h"
#include "code/references.h"
#include "memory/memory.h"

enum { MODES = 3, OVERRIDE_FORMAT = 1 };

struct reference {
    void *module; /* NULL if it belongs to none */
    uint64_t address;
    int is_surface, is_bound;
    int format;
    unsigned channels;
    struct resource resource;
    struct sampler how;
};

static struct reference *reference_of(void *handle, int is_surface) {
    struct reference *one = object_of(A_REFERENCE, handle);
    return one && one->is_surface == is_surface ? one : NULL;
}

static int reference_new(void **handle, const struct reference *made) {
    void *found = handle_new(A_REFERENCE, sizeof *made);
    if (!found) return OUT_OF_MEMORY;
    *(struct reference *)object_of(A_REFERENCE, found) = *made;
    *handle = found;
    return SUCCESS;
}

void references_forget(const void *module) {
    size_t place = 0;
    for (void *handle; (handle = handle_next(A_REFERENCE, &place));) {
        const struct reference *one = object_of(A_REFERENCE, handle);
        if (one->module == module) handle_free(handle);
    }
}

/* The same handle each time. */
static int reference_get(void **handle, void *module, const char *name, int is_surface) {
    DRIVER;
    HANDLE(module);
    CURRENT;
    uint64_t head[2], address;
    size_t place = 0;
    struct answer answer;
    if (!handle || !name) return INVALID_VALUE;
    TRY(module_number(module, &head[0]));
    head[1] = (uint64_t)is_surface;
    const struct part parts[] = {{head, sizeof head}, {name, strlen(name)}};
    TRY(ask(REFERENCE, parts, 2, &answer));
    if (answer.size != sizeof address) return DEVICE_UNAVAILABLE;
    memcpy(&address, answer.data, sizeof address);
    for (void *known; (known = handle_next(A_REFERENCE, &place));) {
        const struct reference *one = object_of(A_REFERENCE, known);
        if (one->address != address) continue;
        *handle = known;
        return SUCCESS;
    }
    struct reference made = {.module = module, .address = address, .is_surface = is_surface, .format = 0x20, .channels = 1};
    for (int i = 0; i < MODES; i++) made.how.modes[i] = CLAMP_MODE;
    return reference_new(handle, &made);
}

EXPORTED int cuModuleGetTexRef(void **reference, void *module, const char *name) { return reference_get(reference, module, name, 0); }
EXPORTED int cuModuleGetSurfRef(void **reference, void *module, const char *name) { return reference_get(reference, module, name, 1); }

EXPORTED int cuTexRefCreate(void **handle) {
    CONTEXT;
    const struct reference made = {.format = 0x20, .channels = 1};
    return handle ? reference_new(handle, &made) : INVALID_VALUE;
}

EXPORTED int cuTexRefDestroy(void *handle) {
    DRIVER;
    HANDLE(handle);
    CURRENT;
    const struct reference *one = reference_of(handle, 0);
    if (!one) return INVALID_HANDLE;
    if (one->module) return INVALID_VALUE;
    handle_free(handle);
    return SUCCESS;
}

/* Updates what a reference stands for in kernels. */
static int show(struct reference *one) {
    struct image image;
    uint64_t number;
    if (!one->is_bound || !one->address) return SUCCESS;
    TRY(one->is_surface ? surface_image(&one->resource, &image) : texture_image(&one->resource, &one->how, NULL, &image));
    image.reference = one->address;
    return image_show(&image, &number);
}

static int bind(struct reference *one, const struct resource *resource) {
    const struct reference before = *one;
    one->resource = *resource;
    one->is_bound = 1;
    const int error = show(one);
    if (error) *one = before;
    return error;
}

#define FIND_REFERENCE(name, handle, is_surface)               \
    DRIVER;                                                    \
    HANDLE(handle);                                            \
    CURRENT;                                                   \
    struct reference *name = reference_of(handle, is_surface); \
    if (!name) return INVALID_HANDLE

/* -- the memory of a reference ------------------------------------------------------------------------------------------------ */

static int bind_array(struct reference *one, int type, void *array, unsigned flags, unsigned most_flags) {
    struct resource resource = {.type = type, .of.array = array};
    if (!array) return INVALID_HANDLE;
    return flags > most_flags ? INVALID_VALUE : bind(one, &resource);
}

EXPORTED int cuTexRefSetArray(void *handle, void *array, unsigned flags) {
    FIND_REFERENCE(one, handle, 0);
    TRY(bind_array(one, ARRAY_RESOURCE, array, flags, OVERRIDE_FORMAT));
    const struct array *found = object_of(AN_ARRAY, array);
    one->format = found->about.format;
    one->channels = found->about.channels;
    return SUCCESS;
}

EXPORTED int cuTexRefSetMipmappedArray(void *handle, void *mipmap, unsigned flags) {
    FIND_REFERENCE(one, handle, 0);
    return bind_array(one, MIPMAP_RESOURCE, mipmap, flags, OVERRIDE_FORMAT);
}

EXPORTED int cuSurfRefSetArray(void *handle, void *array, unsigned flags) {
    FIND_REFERENCE(one, handle, 1);
    const struct array *found = object_of(AN_ARRAY, array);
    if (found && !(found->about.flags & SURFACE_USE)) return INVALID_VALUE;
    return bind_array(one, ARRAY_RESOURCE, array, flags, 0);
}

/* For an unaligned address, returns the distance from the aligned one. */
EXPORTED int cuTexRefSetAddress_v2(size_t *offset, void *handle, device_pointer address, size_t bytes) {
    FIND_REFERENCE(one, handle, 0);
    const size_t beyond = address % (unsigned)device.attributes[TEXTURE_ALIGNMENT];
    struct resource resource = {.type = LINEAR_RESOURCE};
    if (beyond && !offset) return INVALID_VALUE;
    if (address && !reachable(address, bytes)) return INVALID_VALUE;
    resource.of.memory.address = address - beyond;
    resource.of.memory.format = one->format;
    resource.of.memory.channels = one->channels;
    resource.of.memory.width = bytes + beyond;
    TRY(bind(one, &resource));
    if (offset) *offset = beyond;
    return SUCCESS;
}

EXPORTED int cuTexRefSetAddress2D_v3(void *handle, const struct flat_description *about, device_pointer address, size_t pitch) {
    FIND_REFERENCE(one, handle, 0);
    struct resource resource = {.type = PITCHED_RESOURCE};
    if (!about || pitch < about->width * element_bytes(about->format, about->channels)) return INVALID_VALUE;
    resource.of.memory.address = address;
    resource.of.memory.format = about->format;
    resource.of.memory.channels = about->channels;
    resource.of.memory.width = about->width;
    resource.of.memory.height = about->height;
    resource.of.memory.pitch = pitch;
    return bind(one, &resource);
}
SAME(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3);

static int bound_array(void **array, const struct reference *one, int type) {
    if (!array || !one->is_bound || one->resource.type != type) return INVALID_VALUE;
    *array = one->resource.of.array;
    return SUCCESS;
}

EXPORTED int cuTexRefGetArray(void **array, void *handle) {
    FIND_REFERENCE(one, handle, 0);
    return bound_array(array, one, ARRAY_RESOURCE);
}
EXPORTED int cuTexRefGetMipmappedArray(void **mipmap, void *handle) {
    FIND_REFERENCE(one, handle, 0);
    return bound_array(mipmap, one, MIPMAP_RESOURCE);
}
EXPORTED int cuSurfRefGetArray(void **array, void *handle) {
    FIND_REFERENCE(one, handle, 1);
    return bound_array(array, one, ARRAY_RESOURCE);
}

EXPORTED int cuTexRefGetAddress_v2(device_pointer *address, void *handle) {
    FIND_REFERENCE(one, handle, 0);
    if (!address || !one->is_bound || one->resource.type < LINEAR_RESOURCE) return INVALID_VALUE;
    *address = one->resource.of.memory.address;
    return SUCCESS;
}

/* -- how it is read ---------------------------------------------------------------------------------------------------- */

#define GET(function, type, value)                  \
    EXPORTED int function(type *to, void *handle) { \
        FIND_REFERENCE(one, handle, 0);             \
        if (!to) return INVALID_VALUE;              \
        *to = (type)(value);                        \
        return SUCCESS;                             \
    }
#define SET(function, type, member, condition)        \
    EXPORTED int function(void *handle, type value) { \
        FIND_REFERENCE(one, handle, 0);               \
        if (condition) member = value;                \
        return show(one);                             \
    }

/* Values out of range are ignored without an error. */
SET(cuTexRefSetFilterMode, int, one->how.filter, value == 0 || value == 1)
SET(cuTexRefSetMipmapFilterMode, int, one->how.mip_filter, value == 0 || value == 1)
SET(cuTexRefSetMipmapLevelBias, float, one->how.bias, 1)
SET(cuTexRefSetMaxAnisotropy, unsigned, one->how.anisotropy, 1)
GET(cuTexRefGetFilterMode, int, one->how.filter)
GET(cuTexRefGetMipmapFilterMode, int, one->how.mip_filter)
GET(cuTexRefGetMipmapLevelBias, float, one->how.bias)
GET(cuTexRefGetMaxAnisotropy, int, one->how.anisotropy)
GET(cuTexRefGetFlags, unsigned, one->how.flags)

EXPORTED int cuTexRefSetFlags(void *handle, unsigned flags) {
    FIND_REFERENCE(one, handle, 0);
    if (flags & ~(unsigned)SAMPLER_FLAGS) return INVALID_VALUE;
    one->how.flags = flags;
    return show(one);
}

EXPORTED int cuTexRefSetFormat(void *handle, int format, int channels) {
    FIND_REFERENCE(one, handle, 0);
    if (channels == 3 || channels < 0 || channels > 4) return INVALID_VALUE;
    one->format = format;
    one->channels = (unsigned)channels;
    return SUCCESS;
}
EXPORTED int cuTexRefGetFormat(int *format, int *channels, void *handle) {
    FIND_REFERENCE(one, handle, 0);
    if (format) *format = one->format;
    if (channels) *channels = (int)one->channels;
    return SUCCESS;
}

EXPORTED int cuTexRefSetAddressMode(void *handle, int dimension, int mode) {
    FIND_REFERENCE(one, handle, 0);
    if (dimension < 0 || dimension >= MODES) return INVALID_VALUE;
    if (mode >= WRAP_MODE && mode <= BORDER_MODE) one->how.modes[dimension] = mode;
    return show(one);
}
EXPORTED int cuTexRefGetAddressMode(int *mode, void *handle, int dimension) {
    FIND_REFERENCE(one, handle, 0);
    if (!mode || dimension < 0 || dimension >= MODES) return INVALID_VALUE;
    *mode = one->how.modes[dimension];
    return SUCCESS;
}

EXPORTED int cuTexRefSetMipmapLevelClamp(void *handle, float least, float most) {
    FIND_REFERENCE(one, handle, 0);
    one->how.least = least;
    one->how.most = most;
    return show(one);
}
EXPORTED int cuTexRefGetMipmapLevelClamp(float *least, float *most, void *handle) {
    FIND_REFERENCE(one, handle, 0);
    if (least) *least = one->how.least;
    if (most) *most = one->how.most;
    return SUCCESS;
}

EXPORTED int cuTexRefSetBorderColor(void *handle, const float *color) {
    FIND_REFERENCE(one, handle, 0);
    if (!color) return INVALID_VALUE;
    memcpy(one->how.border, color, sizeof one->how.border);
    return show(one);
}
EXPORTED int cuTexRefGetBorderColor(float *color, void *handle) {
    FIND_REFERENCE(one, handle, 0);
    if (!color) return INVALID_VALUE;
    memcpy(color, one->how.border, sizeof one->how.border);
    return SUCCESS;
}
