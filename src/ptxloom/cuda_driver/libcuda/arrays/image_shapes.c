/* Textures and surfaces as sent to the server: their kinds, and the addresses of their elements. */
#include <string.h>

#include "arrays/textures.h"
#include "base/connection.h"
#include "base/handles.h"

enum geometry { ONE, TWO, THREE, LAYERED_ONE, LAYERED_TWO, CUBE, LAYERED_CUBE, LINEAR };
enum { FIRST_COMPRESSED_VIEW = 0x19, LAST_VIEW = 0x22 };

static enum geometry geometry_of(const struct array_description *a) {
    const int layered = a->flags & LAYERED;
    if (a->flags & CUBEMAP) return layered ? LAYERED_CUBE : CUBE;
    if (layered) return a->height ? LAYERED_TWO : LAYERED_ONE;
    return a->depth ? THREE : a->height ? TWO : ONE;
}

static void image_level_of(struct image *image, const struct array *array, device_pointer start) {
    const struct array_description *a = &array->about;
    const int layered = a->flags & (LAYERED | CUBEMAP);
    struct image_level *level = &image->levels[image->count++];
    *level = (struct image_level){start, array->pitch, array->slice, (uint32_t)a->width, (uint32_t)array_rows(array), 1, 0};
    if (!layered) level->depth = (uint32_t)array_slices(array);
}

static int array_image(const struct resource *resource, struct image *image, struct array_description *about) {
    const struct array *array = object_of(AN_ARRAY, resource->of.array);
    const struct mipmap *mipmap = object_of(A_MIPMAP, resource->of.array);
    if (resource->type == ARRAY_RESOURCE ? !array : !mipmap) return INVALID_VALUE;
    *about = resource->type == ARRAY_RESOURCE ? array->about : mipmap->about;
    image->geometry = geometry_of(about);
    image->format = about->format;
    image->channels = about->channels;
    image->layers = (about->flags & (LAYERED | CUBEMAP)) ? (uint32_t)about->depth : 0;
    if (resource->type == ARRAY_RESOURCE) image_level_of(image, array, array->start);
    else
        for (unsigned n = 0; n < mipmap->count; n++) {
            uint64_t offset;
            struct array level = array_level(&mipmap->about, n, &offset);
            image_level_of(image, &level, mipmap->start + offset);
        }
    return SUCCESS;
}

/* -- views of arrays -------------------------------------------------------------------------------------- */

static int view_format(const struct view *view, int *format, unsigned *channels) {
    static const int formats[] = {0x01, 0x08, 0x02, 0x09, 0x03, 0x0a, 0x10, 0x20};
    if (view->format < 1 || view->format >= FIRST_COMPRESSED_VIEW) return 0;
    *format = formats[(view->format - 1) / 3];
    *channels = 1u << (view->format - 1) % 3;
    return 1;
}

/* Blocks of 16 texels: of 8 bytes over pairs of 32-bit integers, of 16 over fours. */
static int is_compressed_view(const struct view *view, const struct array_description *a) {
    const int small = view->format == 0x19 || view->format == 0x1c || view->format == 0x1d;
    if (view->format < FIRST_COMPRESSED_VIEW || view->format > LAST_VIEW || a->format != 0x03) return 0;
    return a->channels == (small ? 2 : 4) && view->width == 4 * a->width && view->height == 4 * a->height;
}

static int view_legal(const struct view *view, const struct array_description *a, int has_levels) {
    int format;
    unsigned channels;
    if (view->first_level > view->last_level || view->first_layer > view->last_layer) return INVALID_VALUE;
    if (!has_levels && view->last_level) return INVALID_VALUE;
    if (!(a->flags & (LAYERED | CUBEMAP)) && view->last_layer) return INVALID_VALUE;
    if (is_compressed_view(view, a)) return NOT_SUPPORTED;
    if (!view_format(view, &format, &channels)) return INVALID_VALUE;
    if (element_bytes(format, channels) != element_bytes(a->format, a->channels)) return INVALID_VALUE;
    return view->width == a->width && view->height == a->height && view->depth == a->depth ? SUCCESS : INVALID_VALUE;
}

static void view_apply(const struct view *view, const struct array_description *a, struct image *image) {
    const unsigned first = view->first_level < image->count ? view->first_level : image->count - 1;
    const unsigned last = view->last_level < image->count ? view->last_level : image->count - 1;
    view_format(view, &image->format, &image->channels);
    memmove(image->levels, image->levels + first, (last - first + 1) * sizeof *image->levels);
    image->count = last - first + 1;
    if (!image->layers) return;
    const uint32_t layer = view->first_layer < a->depth ? view->first_layer : (uint32_t)a->depth - 1;
    const uint32_t end = view->last_layer < a->depth ? view->last_layer : (uint32_t)a->depth - 1;
    image->layers = end - layer + 1;
    for (unsigned n = 0; n < image->count; n++) image->levels[n].start += layer * image->levels[n].plane;
}

/* -- memory ------------------------------------------------------------------------------------------------------------ */

static int memory_image(const struct resource *resource, struct image *image) {
    enum { PITCH_ALIGNMENT = 51, FLAT_WIDTH = 70, FLAT_HEIGHT = 71, FLAT_PITCH = 72 }; /* device attributes */
    const size_t width = resource->of.memory.width, height = resource->of.memory.height, pitch = resource->of.memory.pitch;
    const unsigned bytes = element_bytes(resource->of.memory.format, resource->of.memory.channels);
    const device_pointer address = resource->of.memory.address;
    if (!bytes || resource->of.memory.format >= UNORM_INT8X1) return INVALID_VALUE;
    if (!address || address % (unsigned)device.attributes[TEXTURE_ALIGNMENT]) return INVALID_VALUE;
    image->format = resource->of.memory.format;
    image->channels = resource->of.memory.channels;
    image->count = 1;
    if (resource->type == LINEAR_RESOURCE) {
        if (width / bytes > linear_texels(bytes)) return INVALID_VALUE;
        image->geometry = LINEAR;
        image->levels[0] = (struct image_level){address, width, width, (uint32_t)(width / bytes), 1, 1, 0};
        return SUCCESS;
    }
    if (pitch % (unsigned)device.attributes[PITCH_ALIGNMENT] || pitch > (size_t)device.attributes[FLAT_PITCH]) return INVALID_VALUE;
    if (width > (size_t)device.attributes[FLAT_WIDTH] || height > (size_t)device.attributes[FLAT_HEIGHT]) return INVALID_VALUE;
    image->geometry = TWO;
    image->levels[0] = (struct image_level){address, pitch, pitch * height, (uint32_t)width, (uint32_t)height, 1, 0};
    return SUCCESS;
}

/* -- textures and surfaces ----------------------------------------------------------------------------------------------- */

static int sampler_legal(const struct sampler *how, enum geometry geometry, const struct image *image) {
    const int dimensions = geometry == ONE || geometry == LAYERED_ONE || geometry == LINEAR ? 1 : geometry == THREE ? 3 : 2;
    for (int i = 0; i < dimensions; i++)
        if (how->modes[i] < WRAP_MODE || how->modes[i] > BORDER_MODE) return INVALID_VALUE;
    if ((how->filter | how->mip_filter) & ~1 || how->flags & ~SAMPLER_FLAGS) return INVALID_VALUE;
    if (how->flags & SEAMLESS && geometry != CUBE && geometry != LAYERED_CUBE) return INVALID_VALUE;
    return how->flags & SEAMLESS && how->filter && image->count ? NOT_SUPPORTED : SUCCESS; /* filters across edges */
}

int texture_image(const struct resource *resource, const struct sampler *how, const struct view *view, struct image *image) {
    struct array_description about;
    const int has_levels = resource->type == MIPMAP_RESOURCE;
    *image = (struct image){.flags = how->flags, .filter = how->filter, .mip_filter = how->mip_filter};
    if (resource->flags || resource->type < ARRAY_RESOURCE || resource->type > PITCHED_RESOURCE) return INVALID_VALUE;
    if (resource->type == ARRAY_RESOURCE || has_levels) {
        TRY(array_image(resource, image, &about));
        if (view) {
            TRY(view_legal(view, &about, has_levels));
            view_apply(view, &about, image);
        }
    } else {
        TRY(memory_image(resource, image));
    }
    TRY(sampler_legal(how, (enum geometry)image->geometry, image));
    memcpy(image->modes, how->modes, sizeof image->modes);
    memcpy(image->border, how->border, sizeof image->border);
    image->bias = how->bias;
    image->least = how->least;
    image->most = how->most;
    return SUCCESS;
}

/* A surface treats faces of cubes as layers. */
int surface_image(const struct resource *resource, struct image *image) {
    struct array_description about;
    *image = (struct image){.is_surface = 1};
    if (resource->flags || resource->type != ARRAY_RESOURCE) return INVALID_VALUE;
    TRY(array_image(resource, image, &about));
    if (image->geometry == CUBE || image->geometry == LAYERED_CUBE) image->geometry = LAYERED_TWO;
    return SUCCESS;
}

int image_show(const struct image *image, uint64_t *number) {
    struct answer answer;
    struct part part = {image, offsetof(struct image, levels) + image->count * sizeof *image->levels};
    TRY(ask(IMAGE, &part, 1, &answer));
    if (answer.size != sizeof *number) return DEVICE_UNAVAILABLE;
    memcpy(number, answer.data, sizeof *number);
    return SUCCESS;
}

int image_drop(uint64_t number) {
    struct part part = {&number, sizeof number};
    return ask(DROP_IMAGE, &part, 1, NULL);
}
