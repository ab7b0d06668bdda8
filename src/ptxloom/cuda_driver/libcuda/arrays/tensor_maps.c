/* Tensor maps: the server encodes their 128 bytes. */
#include <string.h>

#include "base/contexts.h"

enum { TILED, IM2COL, RANKS = 5, HEAD = 10, MOST = HEAD + 6 * RANKS, MAP_BYTES = 128 };

/* A request: a head, then the lists, all as 64-bit numbers. */
struct question {
    int64_t numbers[MOST];
    size_t count;
};

#define PUT_ALL(question, values, wanted) \
    for (uint32_t i_ = 0; i_ < (wanted); i_++) (question)->numbers[(question)->count++] = (int64_t)(values)[i_]

static int encode(unsigned char *map, const struct question *question) {
    struct part part = {question->numbers, question->count * sizeof *question->numbers};
    struct answer answer;
    TRY(ask(TENSOR_MAP, &part, 1, &answer));
    if (answer.size != MAP_BYTES) return DEVICE_UNAVAILABLE;
    memcpy(map, answer.data, MAP_BYTES);
    return SUCCESS;
}

EXPORTED int cuTensorMapEncodeTiled(unsigned char *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                    const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle,
                                    int promotion, int fill) {
    CONTEXT;
    if (!map || rank < 1 || rank > RANKS || !sizes || (rank > 1 && !strides) || !box || !steps) return INVALID_VALUE;
    struct question q = {{TILED, type, rank, (int64_t)(intptr_t)address, interleave, swizzle, promotion, fill, 0, 0}, HEAD};
    PUT_ALL(&q, sizes, rank);
    PUT_ALL(&q, strides, rank - 1);
    PUT_ALL(&q, box, rank);
    PUT_ALL(&q, steps, rank);
    return encode(map, &q);
}

EXPORTED int cuTensorMapEncodeIm2col(unsigned char *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                     const uint64_t *strides, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
                                     const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
    CONTEXT;
    if (!map || rank < 3 || rank > RANKS || !sizes || !strides || !lower || !upper || !steps) return INVALID_VALUE;
    struct question q = {{IM2COL, type, rank, (int64_t)(intptr_t)address, interleave, swizzle, promotion, fill, channels, pixels}, HEAD};
    PUT_ALL(&q, sizes, rank);
    PUT_ALL(&q, strides, rank - 1);
    PUT_ALL(&q, lower, rank - 2);
    PUT_ALL(&q, upper, rank - 2);
    PUT_ALL(&q, steps, rank);
    return encode(map, &q);
}

/* The corners apply to the width; the mode is not part of the map. */
EXPORTED int cuTensorMapEncodeIm2colWide(unsigned char *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                         const uint64_t *strides, int lower, int upper, uint32_t channels, uint32_t pixels,
                                         const uint32_t *steps, int interleave, int mode, int swizzle, int promotion, int fill) {
    enum { MODES = 2 };
    const int first[RANKS] = {lower}, last[RANKS] = {upper};
    CONTEXT;
    if (mode < 0 || mode >= MODES) return INVALID_VALUE;
    return cuTensorMapEncodeIm2col(map, type, rank, address, sizes, strides, first, last, channels, pixels, steps, interleave, swizzle,
                                   promotion, fill);
}

/* A map starts with its address. */
EXPORTED int cuTensorMapReplaceAddress(unsigned char *map, void *address) {
    enum { ALIGNMENT = 16, ADDRESS_BITS = 57 };
    uint64_t number = (uint64_t)(uintptr_t)address;
    CONTEXT;
    if (!map || !number || number % ALIGNMENT || number >> ADDRESS_BITS) return INVALID_VALUE;
    memcpy(map, &number, sizeof number);
    return SUCCESS;
}
