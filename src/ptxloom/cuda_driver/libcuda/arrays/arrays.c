/* Arrays and mipmapped arrays: their kinds, and their memory. */
#include "arrays/arrays.h"

#include <string.h>

#include "base/contexts.h"
#include "base/handles.h"
#include "memory/memory.h"

enum { LEVEL_ALIGNMENT = 512, FACES = 6 };

unsigned element_bytes(int format, unsigned channels) {
    static const struct {
        int format;
        unsigned bytes;
    } plain[] = {{0x01, 1}, {0x02, 2}, {0x03, 4}, {0x08, 1}, {0x09, 2}, {0x0a, 4}, {0x10, 2}, {0x20, 4}};
    if (channels != 1 && channels != 2 && channels != 4) return 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].format == format) return plain[i].bytes * channels;
    if (format < UNORM_INT8X1 || format > SNORM_INT16X4) return 0;
    /* one, two and four channels of 8 bits and of 16 bits, unsigned and signed */
    const unsigned kind = (unsigned)(format - UNORM_INT8X1), named = 1u << kind % 3;
    return channels == named ? (kind / 3 % 2 ? 2 : 1) * channels : 0;
}

size_t linear_texels(unsigned bytes) {
    const size_t texels = (size_t)1 << 30, most_bytes = (size_t)1 << 32;
    return bytes * texels > most_bytes ? most_bytes / bytes : texels;
}

EXPORTED int cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, int which) {
    DRIVER;
    const unsigned bytes = element_bytes(format, channels);
    if (!width || !bytes) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    *width = linear_texels(bytes);
    return SUCCESS;
}

/* Formats of hardware that are missing here: compressed blocks, and 10 bits per component. */
static int is_other_format(int format, unsigned channels) {
    if (format == 0x50 || (format >= 0x91 && format <= 0x96) || format == 0x9d || format == 0x9e) return channels == 4;
    if (format == 0x97 || format == 0x98) return channels == 1;
    if (format == 0x99 || format == 0x9a) return channels == 2;
    return (format == 0x9b || format == 0x9c) && channels == 3;
}

static uint64_t least_one(uint64_t n) { return n ? n : 1; }
uint64_t array_rows(const struct array *array) { return least_one(array->about.height); }
uint64_t array_slices(const struct array *array) { return least_one(array->about.depth); }

static size_t halved(size_t size, unsigned level) { return size ? least_one(size >> level) : 0; }

/* The sizes are legal: nothing here overflows 64 bits. */
struct array array_level(const struct array_description *about, unsigned level, uint64_t *offset) {
    uint64_t at = 0;
    struct array found = {.about = *about};
    for (unsigned n = 0; n <= level; n++) {
        at += (found.size + LEVEL_ALIGNMENT - 1) / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
        found.about.width = halved(about->width, n);
        found.about.height = halved(about->height, n);
        found.about.depth = (about->flags & (LAYERED | CUBEMAP)) ? about->depth : halved(about->depth, n);
        found.pitch = found.about.width * element_bytes(about->format, about->channels);
        found.slice = found.pitch * array_rows(&found);
        found.size = found.slice * array_slices(&found);
    }
    found.level = level;
    if (offset) *offset = at;
    return found;
}

/* -- legal formats and sizes ------------------------------------------------------------------------------------------------- */

static int attribute(int number) { return device.attributes[number]; }

struct limits {
    uint64_t width, height, depth;
};

/* The numbers are those of device attributes. */
static struct limits limits_of(const struct array_description *a, int has_levels) {
    const int surface = a->flags & SURFACE_USE;
#define LIMIT(texture, other) (uint64_t)attribute(surface ? (other) : (texture))
#define ONLY(texture) (uint64_t)attribute(texture)
    if (a->flags & CUBEMAP) {
        uint64_t width = a->flags & LAYERED ? LIMIT(53, 67) : LIMIT(52, 66);
        return (struct limits){width, width, a->flags & LAYERED ? LIMIT(54, 68) : FACES};
    }
    if (a->flags & LAYERED && !a->height) return (struct limits){LIMIT(42, 61), 0, LIMIT(43, 62)};
    if (a->flags & LAYERED) return (struct limits){LIMIT(27, 63), LIMIT(28, 64), LIMIT(29, 65)};
    if (a->depth) return (struct limits){LIMIT(24, 58), LIMIT(25, 59), LIMIT(26, 60)};
    if (a->height && a->flags & GATHER) return (struct limits){ONLY(45), ONLY(46), 0};
    if (a->height && has_levels) return (struct limits){ONLY(73), ONLY(74), 0};
    if (a->height) return (struct limits){LIMIT(22, 56), LIMIT(23, 57), 0};
    return (struct limits){has_levels ? ONLY(77) : LIMIT(21, 55), 0, 0};
#undef ONLY
#undef LIMIT
}

static int is_within(const struct array_description *a, struct limits most) {
    return a->width <= most.width && a->height <= most.height && a->depth <= most.depth;
}

static int has_legal_shape(const struct array_description *a, int has_levels) {
    if (!a->width || (a->depth && !a->height && !(a->flags & LAYERED))) return 0;
    if (a->flags & LAYERED && !a->depth) return 0;
    if (a->flags & CUBEMAP && (a->width != a->height || !a->depth || a->depth % FACES)) return 0;
    if (a->flags & GATHER && (!a->height || a->depth)) return 0;
    if (a->flags & SPARSE && !a->height) return 0;
    if (is_within(a, limits_of(a, has_levels))) return 1;
    const struct limits alternate = {(uint64_t)attribute(47), (uint64_t)attribute(48), (uint64_t)attribute(49)};
    return a->depth && !(a->flags & (LAYERED | CUBEMAP | SURFACE_USE)) && is_within(a, alternate);
}

static int has_legal_flags(const struct array_description *a) {
    const unsigned known = LAYERED | SURFACE_USE | CUBEMAP | GATHER | SPARSE | DEFERRED;
    if (a->flags & ~known || (a->flags & GATHER && a->flags & (LAYERED | CUBEMAP))) return 0;
    return !(a->flags & SPARSE && a->flags & DEFERRED);
}

static int array_legal(const struct array_description *a, int has_levels) {
    if (!a || !has_legal_flags(a)) return INVALID_VALUE;
    const unsigned bytes = element_bytes(a->format, a->channels);
    if (!bytes && !is_other_format(a->format, a->channels)) return INVALID_VALUE;
    if (!has_legal_shape(a, has_levels)) return INVALID_VALUE;
    /* arrays whose memory is mapped later, and formats that no texture here reads */
    return !bytes || a->flags & (SPARSE | DEFERRED) ? NOT_SUPPORTED : SUCCESS;
}

/* -- arrays ---------------------------------------------------------------------------------------------------------- */

static int may_make(void *const *into, const struct array_description *about, int has_levels) {
    CONTEXT;
    return into ? array_legal(about, has_levels) : INVALID_VALUE;
}

/* Bytes for `size` of an array: the lock is not held while `memory_new` looks up the origin of the call. */
static int array_memory(uint64_t size, device_pointer *start) {
    return size > device.capacity ? OUT_OF_MEMORY : memory_new(size, ARRAY_MEMORY, 0, start);
}

EXPORTED int cuArray3DCreate_v2(void **handle, const struct array_description *about) {
    device_pointer start;
    TRY(may_make(handle, about, 0));
    struct array made = array_level(about, 0, NULL);
    TRY(array_memory(made.size, &start));
    CONTEXT;
    void *found = handle_new(AN_ARRAY, sizeof made);
    if (!found) return OUT_OF_MEMORY;
    made.start = start;
    *(struct array *)object_of(AN_ARRAY, found) = made;
    *handle = found;
    return SUCCESS;
}

EXPORTED int cuArrayCreate_v2(void **handle, const struct flat_description *flat) {
    if (!flat) return may_make(handle, NULL, 0);
    const struct array_description about = {flat->width, flat->height, 0, flat->format, flat->channels, 0};
    return cuArray3DCreate_v2(handle, &about);
}

/* The error for a handle that is not an array: for a destroyed one, as in a driver. */
static int no_array(const void *handle) { return handle ? CONTEXT_IS_DESTROYED : INVALID_HANDLE; }

EXPORTED int cuArray3DGetDescriptor_v2(struct array_description *found, void *handle) {
    HANDLE(handle);
    CONTEXT;
    struct array *array = object_of(AN_ARRAY, handle);
    if (!array) return no_array(handle);
    if (!found) return INVALID_VALUE;
    *found = array->about;
    return SUCCESS;
}

EXPORTED int cuArrayGetDescriptor_v2(struct flat_description *found, void *handle) {
    struct array_description about;
    TRY(cuArray3DGetDescriptor_v2(&about, handle));
    if (!found) return INVALID_VALUE;
    *found = (struct flat_description){about.width, about.height, about.format, about.channels};
    return SUCCESS;
}

EXPORTED int cuArrayDestroy(void *handle) {
    DRIVER;
    HANDLE(handle);
    CURRENT;
    struct array *array = object_of(AN_ARRAY, handle);
    if (!array) return no_array(handle);
    const device_pointer start = array->start;
    void *const whole = array->mipmap;
    struct mipmap *mipmap = object_of(A_MIPMAP, whole);
    if (mipmap) mipmap->levels[array->level] = NULL;
    handle_free(handle);
    return whole ? SUCCESS : memory_free(start, 1 << ARRAY_MEMORY);
}

/* -- mipmapped arrays ------------------------------------------------------------------------------------------------ */

static unsigned level_count(const struct array_description *a, unsigned wanted) {
    size_t largest = a->width > a->height ? a->width : a->height;
    unsigned most = 1;
    if (!(a->flags & (LAYERED | CUBEMAP)) && a->depth > largest) largest = a->depth;
    while (largest >>= 1) most++;
    return wanted < 1 ? 1 : wanted > most ? most : wanted;
}

EXPORTED int cuMipmappedArrayCreate(void **handle, const struct array_description *about, unsigned levels) {
    device_pointer start;
    uint64_t offset;
    TRY(may_make(handle, about, 1));
    const unsigned count = level_count(about, levels);
    const struct array last = array_level(about, count - 1, &offset);
    TRY(array_memory(offset + last.size, &start));
    CONTEXT;
    void *found = handle_new(A_MIPMAP, sizeof(struct mipmap));
    if (!found) return OUT_OF_MEMORY;
    *(struct mipmap *)object_of(A_MIPMAP, found) = (struct mipmap){.about = *about, .start = start, .count = count};
    *handle = found;
    return SUCCESS;
}

EXPORTED int cuMipmappedArrayGetLevel(void **handle, void *of, unsigned level) {
    HANDLE(of);
    CONTEXT;
    uint64_t offset;
    struct mipmap *mipmap = object_of(A_MIPMAP, of);
    if (!mipmap) return no_array(of);
    if (!handle || level >= mipmap->count) return INVALID_VALUE;
    if (!mipmap->levels[level]) {
        struct array made = array_level(&mipmap->about, level, &offset);
        void *found = handle_new(AN_ARRAY, sizeof made);
        if (!found) return OUT_OF_MEMORY;
        made.start = mipmap->start + offset;
        made.mipmap = of;
        *(struct array *)object_of(AN_ARRAY, found) = made;
        mipmap->levels[level] = found;
    }
    *handle = mipmap->levels[level];
    return SUCCESS;
}

/* Its levels can still be described, but no longer accessed. */
EXPORTED int cuMipmappedArrayDestroy(void *handle) {
    DRIVER;
    HANDLE(handle);
    CURRENT;
    struct mipmap *mipmap = object_of(A_MIPMAP, handle);
    if (!mipmap) return no_array(handle);
    const device_pointer start = mipmap->start;
    handle_free(handle);
    return memory_free(start, 1 << ARRAY_MEMORY);
}

/* -- for arrays whose memory is mapped later, or that have planes ---------------------------------------- */

EXPORTED int cuArrayGetMemoryRequirements(void *needs, void *handle, int which) {
    GIVEN(needs && handle);
    CONTEXT;
    (void)needs, (void)handle, (void)which;
    return INVALID_VALUE;
}
SAME(cuMipmappedArrayGetMemoryRequirements, cuArrayGetMemoryRequirements);

EXPORTED int cuArrayGetSparseProperties(void *found, void *handle) {
    GIVEN(found && handle);
    CONTEXT;
    (void)found, (void)handle;
    return INVALID_VALUE;
}
SAME(cuMipmappedArrayGetSparseProperties, cuArrayGetSparseProperties);

EXPORTED int cuArrayGetPlane(void **plane, void *handle, unsigned which) {
    HANDLE(handle);
    CONTEXT;
    (void)plane, (void)handle, (void)which;
    return INVALID_VALUE;
}
