/* Copies: of bytes, of rows, of boxes, of variables. */
#include "runtime.h"

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };

int cuMemcpy(char *to, const char *from, size_t bytes);
int cuMemcpyAsync(char *to, const char *from, size_t bytes, handle stream);
int cuMemcpyHtoD_v2(char *to, const char *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(char *to, const char *from, size_t bytes, handle stream);
int cuMemcpyDtoH_v2(char *to, const char *from, size_t bytes);
int cuMemcpyDtoHAsync_v2(char *to, const char *from, size_t bytes, handle stream);
int cuMemcpyDtoD_v2(char *to, const char *from, size_t bytes);
int cuMemcpyDtoDAsync_v2(char *to, const char *from, size_t bytes, handle stream);
int cuMemcpy3D_v2(const struct copy *copy);
int cuMemcpy3DAsync_v2(const struct copy *copy, handle stream);

EXPORTED int cudaMemcpy(char *to, const char *from, size_t bytes, int kind) {
    START();
    if (!bytes) return SUCCESS;
    switch (kind) {
    case HOST_TO_DEVICE: return told(cuMemcpyHtoD_v2(to, from, bytes));
    case DEVICE_TO_HOST: return told(cuMemcpyDtoH_v2(to, from, bytes));
    case DEVICE_TO_DEVICE: return told(cuMemcpyDtoD_v2(to, from, bytes));
    case HOST_TO_HOST: /* in the order of the stream, too */
    case DEFAULT: return told(cuMemcpy(to, from, bytes));
    default: return told(INVALID_MEMCPY_DIRECTION);
    }
}

EXPORTED int cudaMemcpyAsync(char *to, const char *from, size_t bytes, int kind, handle stream) {
    START();
    if (!bytes) return SUCCESS;
    switch (kind) {
    case HOST_TO_DEVICE: return told(cuMemcpyHtoDAsync_v2(to, from, bytes, stream));
    case DEVICE_TO_HOST: return told(cuMemcpyDtoHAsync_v2(to, from, bytes, stream));
    case DEVICE_TO_DEVICE: return told(cuMemcpyDtoDAsync_v2(to, from, bytes, stream));
    case HOST_TO_HOST:
    case DEFAULT: return told(cuMemcpyAsync(to, from, bytes, stream));
    default: return told(INVALID_MEMCPY_DIRECTION);
    }
}

static int source_memory(int kind) {
    return kind == DEFAULT ? UNIFIED : kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE ? DEVICE : HOST;
}

static int destination_memory(int kind) {
    return kind == DEFAULT ? UNIFIED : kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE ? DEVICE : HOST;
}

static struct copy_end linear(int memory, const char *pointer, size_t pitch, size_t height) {
    return (struct copy_end){.memory = memory,
                             .host = memory == HOST ? pointer : NULL,
                             .device = memory == HOST ? NULL : pointer,
                             .pitch_bytes = pitch,
                             .height = height};
}

static struct copy_end in_array(handle array, size_t x_bytes, size_t y, size_t z) {
    return (struct copy_end){.memory = ARRAY, .array = array, .x_bytes = x_bytes, .y = y, .z = z};
}

int linear_copy(void *to, const void *from, size_t bytes, int kind, struct copy *copy) {
    if (kind < HOST_TO_HOST || kind > DEFAULT) return INVALID_MEMCPY_DIRECTION;
    *copy = (struct copy){linear(source_memory(kind), from, bytes, 1), linear(destination_memory(kind), to, bytes, 1), bytes, 1, 1};
    return SUCCESS;
}

int copy_of(const struct copy_3d *asked, struct copy *copy) {
    size_t unit = 1, of_source = 1, of_destination = 1;
    int failed = SUCCESS;
    if (asked->kind < HOST_TO_HOST || asked->kind > DEFAULT) return INVALID_MEMCPY_DIRECTION;
    if (asked->source_array) failed = element_bytes(asked->source_array, &of_source);
    if (!failed && asked->destination_array) failed = element_bytes(asked->destination_array, &of_destination);
    if (failed) return failed;
    unit = asked->source_array ? of_source : of_destination; /* the extent counts elements if an array is involved */
    const struct position *from = &asked->source_position, *to = &asked->destination_position;
    copy->source = asked->source_array
                       ? in_array(asked->source_array, 0, 0, 0)
                       : linear(source_memory(asked->kind), asked->source.pointer, asked->source.pitch, asked->source.ysize);
    copy->destination = asked->destination_array ? in_array(asked->destination_array, 0, 0, 0)
                                                 : linear(destination_memory(asked->kind), asked->destination.pointer,
                                                          asked->destination.pitch, asked->destination.ysize);
    copy->source.x_bytes = from->x * of_source;
    copy->source.y = from->y;
    copy->source.z = from->z;
    copy->destination.x_bytes = to->x * of_destination;
    copy->destination.y = to->y;
    copy->destination.z = to->z;
    copy->width_bytes = asked->extent.width * unit;
    copy->height = asked->extent.height;
    copy->depth = asked->extent.depth;
    return SUCCESS;
}

/* The driver's kinds of memory, as the runtime's direction. */
static int kind_of(const struct copy *copy) {
    if (copy->source.memory == UNIFIED || copy->destination.memory == UNIFIED) return DEFAULT;
    return (copy->source.memory == HOST ? HOST_TO_HOST : DEVICE_TO_HOST) + (copy->destination.memory != HOST);
}

static int end_told(const struct copy_end *from, handle *array, struct position *at, struct pitched_pointer *row) {
    size_t unit = 1;
    int failed = from->memory == ARRAY ? element_bytes(from->array, &unit) : SUCCESS;
    if (failed) return failed;
    *at = (struct position){from->x_bytes / unit, from->y, from->z};
    *array = from->memory == ARRAY ? from->array : NULL;
    *row = (struct pitched_pointer){NULL, 0, 0, 0};
    if (from->memory == ARRAY) return SUCCESS;
    const char *pointer = from->memory == HOST ? from->host : from->device;
    *row = (struct pitched_pointer){(char *)(word)pointer, from->pitch_bytes, from->pitch_bytes, from->height};
    return SUCCESS;
}

int copy_told(const struct copy *copy, struct copy_3d *to) {
    size_t unit = 1;
    struct copy_3d found = {.kind = kind_of(copy), .extent = {copy->width_bytes, copy->height, copy->depth}};
    int failed = end_told(&copy->source, &found.source_array, &found.source_position, &found.source);
    if (!failed) failed = end_told(&copy->destination, &found.destination_array, &found.destination_position, &found.destination);
    if (!failed && found.source_array) failed = element_bytes(found.source_array, &unit);
    if (!failed && !found.source_array && found.destination_array) failed = element_bytes(found.destination_array, &unit);
    if (failed) return failed;
    found.extent.width /= unit;
    *to = found;
    return SUCCESS;
}

static int copied(struct copy copy, int kind, int later, handle stream) {
    if (kind < HOST_TO_HOST || kind > DEFAULT) return told(INVALID_MEMCPY_DIRECTION);
    START();
    if (!copy.width_bytes || !copy.height || !copy.depth) return SUCCESS;
    return told(later ? cuMemcpy3DAsync_v2(&copy, stream) : cuMemcpy3D_v2(&copy));
}

static int copied_3d(const struct copy_3d *asked, int later, handle stream) {
    struct copy copy;
    if (!asked) return told(INVALID_VALUE);
    START();
    int failed = copy_of(asked, &copy);
    return failed ? told(failed) : copied(copy, asked->kind, later, stream);
}

EXPORTED int cudaMemcpy3D(const struct copy_3d *asked) { return copied_3d(asked, 0, NULL); }

EXPORTED int cudaMemcpy3DAsync(const struct copy_3d *asked, handle stream) { return copied_3d(asked, 1, stream); }

static int copied_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height, int kind, int later,
                       handle stream) {
    if (width > to_pitch || width > from_pitch) return told(12); /* cudaErrorInvalidPitchValue */
    return copied((struct copy){linear(source_memory(kind), from, from_pitch, height),
                                linear(destination_memory(kind), to, to_pitch, height), width, height, 1},
                  kind, later, stream);
}

EXPORTED int cudaMemcpy2D(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height, int kind) {
    return copied_rows(to, to_pitch, from, from_pitch, width, height, kind, 0, NULL);
}

EXPORTED int cudaMemcpy2DAsync(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height, int kind,
                               handle stream) {
    return copied_rows(to, to_pitch, from, from_pitch, width, height, kind, 1, stream);
}

static int to_array(handle to, size_t x, size_t y, const char *from, size_t pitch, size_t width, size_t height, int kind, int later,
                    handle stream) {
    return copied((struct copy){linear(source_memory(kind), from, pitch, height), in_array(to, x, y, 0), width, height, 1}, kind, later,
                  stream);
}

static int from_array(char *to, size_t pitch, handle from, size_t x, size_t y, size_t width, size_t height, int kind, int later,
                      handle stream) {
    return copied((struct copy){in_array(from, x, y, 0), linear(destination_memory(kind), to, pitch, height), width, height, 1}, kind,
                  later, stream);
}

EXPORTED int cudaMemcpy2DToArray(handle to, size_t x, size_t y, const char *from, size_t pitch, size_t width, size_t height, int kind) {
    return to_array(to, x, y, from, pitch, width, height, kind, 0, NULL);
}

EXPORTED int cudaMemcpy2DToArrayAsync(handle to, size_t x, size_t y, const char *from, size_t pitch, size_t width, size_t height, int kind,
                                      handle stream) {
    return to_array(to, x, y, from, pitch, width, height, kind, 1, stream);
}

EXPORTED int cudaMemcpy2DFromArray(char *to, size_t pitch, handle from, size_t x, size_t y, size_t width, size_t height, int kind) {
    return from_array(to, pitch, from, x, y, width, height, kind, 0, NULL);
}

EXPORTED int cudaMemcpy2DFromArrayAsync(char *to, size_t pitch, handle from, size_t x, size_t y, size_t width, size_t height, int kind,
                                        handle stream) {
    return from_array(to, pitch, from, x, y, width, height, kind, 1, stream);
}

EXPORTED int cudaMemcpy2DArrayToArray(handle to, size_t to_x, size_t to_y, handle from, size_t x, size_t y, size_t width, size_t height,
                                      int kind) {
    return copied((struct copy){in_array(from, x, y, 0), in_array(to, to_x, to_y, 0), width, height, 1}, kind, 0, NULL);
}

/* Copies of bytes, row after row, from any start: functions that were deprecated long ago, and
   are still used. */
static int in_rows(handle array, size_t x, size_t y, char *bytes_at, size_t bytes, int kind, int into, int later, handle stream) {
    size_t row;
    START();
    int failed = row_bytes(array, &row);
    if (!failed && x > row) failed = INVALID_VALUE;
    while (bytes && !failed) {
        const size_t width = x || bytes < row ? (bytes < row - x ? bytes : row - x) : row;
        const size_t rows = width == row ? bytes / row : 1;
        failed = into ? to_array(array, x, y, bytes_at, width, width, rows, kind, later, stream)
                      : from_array(bytes_at, width, array, x, y, width, rows, kind, later, stream);
        bytes_at += width * rows;
        bytes -= width * rows;
        y += rows;
        x = 0;
    }
    return told(failed);
}

EXPORTED int cudaMemcpyToArray(handle to, size_t x, size_t y, const char *from, size_t bytes, int kind) {
    return in_rows(to, x, y, (char *)(uintptr_t)from, bytes, kind, 1, 0, NULL);
}

EXPORTED int cudaMemcpyToArrayAsync(handle to, size_t x, size_t y, const char *from, size_t bytes, int kind, handle stream) {
    return in_rows(to, x, y, (char *)(uintptr_t)from, bytes, kind, 1, 1, stream);
}

EXPORTED int cudaMemcpyFromArray(char *to, handle from, size_t x, size_t y, size_t bytes, int kind) {
    return in_rows(from, x, y, to, bytes, kind, 0, 0, NULL);
}

EXPORTED int cudaMemcpyFromArrayAsync(char *to, handle from, size_t x, size_t y, size_t bytes, int kind, handle stream) {
    return in_rows(from, x, y, to, bytes, kind, 0, 1, stream);
}

EXPORTED int cudaMemcpyToSymbol(const void *symbol, const char *from, size_t bytes, size_t offset, int kind) {
    char *address;
    int failed = part_of(symbol, offset, bytes, &address);
    return failed ? told(failed) : cudaMemcpy(address, from, bytes, kind);
}

EXPORTED int cudaMemcpyFromSymbol(char *to, const void *symbol, size_t bytes, size_t offset, int kind) {
    char *address;
    int failed = part_of(symbol, offset, bytes, &address);
    return failed ? told(failed) : cudaMemcpy(to, address, bytes, kind);
}

EXPORTED int cudaMemcpyToSymbolAsync(const void *symbol, const char *from, size_t bytes, size_t offset, int kind, handle stream) {
    char *address;
    int failed = part_of(symbol, offset, bytes, &address);
    return failed ? told(failed) : cudaMemcpyAsync(address, from, bytes, kind, stream);
}

EXPORTED int cudaMemcpyFromSymbolAsync(char *to, const void *symbol, size_t bytes, size_t offset, int kind, handle stream) {
    char *address;
    int failed = part_of(symbol, offset, bytes, &address);
    return failed ? told(failed) : cudaMemcpyAsync(to, address, bytes, kind, stream);
}

/* Each piece ends at the end of a row of either array. */
EXPORTED int cudaMemcpyArrayToArray(handle to, size_t to_x, size_t to_y, handle from, size_t x, size_t y, size_t bytes, int kind) {
    size_t to_row, row;
    START();
    int failed = row_bytes(to, &to_row);
    if (!failed) failed = row_bytes(from, &row);
    if (!failed && (x >= row || to_x >= to_row) && bytes) failed = INVALID_VALUE;
    while (bytes && !failed) {
        size_t width = row - x < to_row - to_x ? row - x : to_row - to_x;
        if (width > bytes) width = bytes;
        failed = cudaMemcpy2DArrayToArray(to, to_x, to_y, from, x, y, width, 1, kind);
        bytes -= width;
        y += (x += width) == row;
        to_y += (to_x += width) == to_row;
        x %= row;
        to_x %= to_row;
    }
    return told(failed);
}

/* All devices share one address space. */
static int copied_between(const struct copy_between *asked, int later, handle stream) {
    handle context;
    if (!asked) return told(INVALID_VALUE);
    int failed = primary_of(asked->source_device, &context);
    if (!failed) failed = primary_of(asked->destination_device, &context);
    if (failed) return told(failed);
    const struct copy_3d one = {asked->source_array,         asked->source_position, asked->source, asked->destination_array,
                                asked->destination_position, asked->destination,     asked->extent, DEVICE_TO_DEVICE};
    return copied_3d(&one, later, stream);
}

EXPORTED int cudaMemcpy3DPeer(const struct copy_between *asked) { return copied_between(asked, 0, NULL); }

EXPORTED int cudaMemcpy3DPeerAsync(const struct copy_between *asked, handle stream) { return copied_between(asked, 1, stream); }

EXPORTED int cudaMemcpyPeer(char *to, int to_device, const char *from, int from_device, size_t bytes) {
    (void)to_device, (void)from_device;
    return cudaMemcpy(to, from, bytes, DEVICE_TO_DEVICE);
}

EXPORTED int cudaMemcpyPeerAsync(char *to, int to_device, const char *from, int from_device, size_t bytes, handle stream) {
    (void)to_device, (void)from_device;
    return cudaMemcpyAsync(to, from, bytes, DEVICE_TO_DEVICE, stream);
}
