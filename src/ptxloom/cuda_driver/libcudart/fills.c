/* Fills: of bytes, of rows, of boxes. */
#include "runtime.h"

int cuMemsetD8_v2(char *at, unsigned char value, size_t bytes);
int cuMemsetD8Async(char *at, unsigned char value, size_t bytes, handle stream);
int cuMemsetD2D8_v2(char *at, size_t pitch, unsigned char value, size_t width, size_t height);
int cuMemsetD2D8Async(char *at, size_t pitch, unsigned char value, size_t width, size_t height, handle stream);

EXPORTED int cudaMemset(char *at, int value, size_t bytes) {
    START();
    return told(bytes ? cuMemsetD8_v2(at, (unsigned char)value, bytes) : SUCCESS);
}

EXPORTED int cudaMemsetAsync(char *at, int value, size_t bytes, handle stream) {
    START();
    return told(bytes ? cuMemsetD8Async(at, (unsigned char)value, bytes, stream) : SUCCESS);
}

EXPORTED int cudaMemset2D(char *at, size_t pitch, int value, size_t width, size_t height) {
    START();
    return told(width && height ? cuMemsetD2D8_v2(at, pitch, (unsigned char)value, width, height) : SUCCESS);
}

EXPORTED int cudaMemset2DAsync(char *at, size_t pitch, int value, size_t width, size_t height, handle stream) {
    START();
    return told(width && height ? cuMemsetD2D8Async(at, pitch, (unsigned char)value, width, height, stream) : SUCCESS);
}

/* Slices are disjoint, so memory limits their number. */
static int slices_legal(struct pitched_pointer at, struct extent extent) {
    if (extent.depth > 1 && (at.pitch < extent.width || at.ysize < extent.height)) return INVALID_VALUE;
    return SUCCESS;
}

static int is_empty(struct extent extent) { return !extent.width || !extent.height || !extent.depth; }

static int filled_box(struct pitched_pointer at, int value, struct extent extent, int later, handle stream) {
    int failed = is_empty(extent) ? SUCCESS : slices_legal(at, extent);
    for (size_t z = 0; z < extent.depth && !failed && !is_empty(extent); z++) {
        char *slice = at.pointer + z * at.pitch * at.ysize;
        failed = later ? cudaMemset2DAsync(slice, at.pitch, value, extent.width, extent.height, stream)
                       : cudaMemset2D(slice, at.pitch, value, extent.width, extent.height);
    }
    return told(failed);
}

EXPORTED int cudaMemset3D(struct pitched_pointer at, int value, struct extent extent) { return filled_box(at, value, extent, 0, NULL); }

EXPORTED int cudaMemset3DAsync(struct pitched_pointer at, int value, struct extent extent, handle stream) {
    return filled_box(at, value, extent, 1, stream);
}
