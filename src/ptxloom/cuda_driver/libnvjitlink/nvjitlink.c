/* nvJitLink: NVIDIA's library links LTO-IR to PTX; the driver links PTX and its containers, then both together. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libnvrtc/theirs.h"
#include "called.h"

/* Results, and kinds of input, of nvJitLink. */
enum { SUCCESS = 0, INVALID_INPUT = 3, PTX_COMPILE = 4, INTERNAL = 6, NULL_INPUT = 10 };
enum { CUBIN = 1, PTX, LTOIR, FATBIN, OBJECT, LIBRARY, INDEX, ANY = 10 };

/* The driver's: options of a link, kinds of input. */
enum { MAX_REGISTERS = 0, ERROR_LOG = 5, ERROR_LOG_BYTES = 6, TARGET = 9 };
static const int DRIVERS[] = {[CUBIN] = 0, [PTX] = 1, [FATBIN] = 2, [OBJECT] = 3, [LIBRARY] = 4};

enum { LOG_BYTES = 4096 };

struct input {
    int kind; /* the driver's */
    void *data;
    size_t size;
};

struct link {
    void *theirs;
    int as_it_is;    /* whether the program wants something other than machine code */
    int lto;
    size_t lto_count; /* the number of inputs for NVIDIA's library */
    unsigned registers, target;
    struct input *inputs;
    size_t count;
    void *made;
    size_t size;
    char log[LOG_BYTES];
};

int cuInit(unsigned flags);
int cuCtxGetCurrent(void **context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link);
int cuLinkAddData_v2(void *link, int kind, void *data, size_t size, const char *name, unsigned count, int *options, void **values);
int cuLinkComplete(void *link, void **image, size_t *size);
int cuLinkDestroy(void *link);

static int ask(const char *name, void *link, word a, word b, word c, word d) {
    function *call = theirs(name);
    return call ? (int)call((word)link, a, b, c, d, 0) : INTERNAL;
}

static void drop(struct link *link) {
    for (size_t i = 0; i < link->count; i++) free(link->inputs[i].data);
    free(link->inputs);
    free(link->made);
    free(link);
}

/* -- a link ------------------------------------------------------------------------------------------------------ */

static void read_option(struct link *link, const char *option) {
    if (!strcmp(option, "-lto") || !strcmp(option, "-dlto")) link->lto = 1;
    if (!strcmp(option, "-ptx") || !strcmp(option, "-r")) link->as_it_is = 1;
    const char *number = strncmp(option, "-arch=", 6) ? NULL : strchr(option, '_'); /* sm_90a, compute_90, lto_90 */
    if (number) link->target = (unsigned)strtoul(number + 1, NULL, 10);
    if (!strncmp(option, "-maxrregcount=", 14)) link->registers = (unsigned)strtoul(option + 14, NULL, 10);
}

EXPORTED int nvJitLinkCreate(void **handle, uint32_t count, const char **options) {
    if (!handle || (count && !options)) return NULL_INPUT;
    struct link *link = calloc(1, sizeof *link);
    const char **all = calloc((size_t)count + 1, sizeof *all);
    if (!link || !all) {
        free(link);
        free(all);
        return INTERNAL;
    }
    for (uint32_t i = 0; i < count; i++) {
        all[i] = options[i];
        if (options[i]) read_option(link, options[i]);
    }
    all[count] = "-ptx";
    int error = ask("nvJitLinkCreate", &link->theirs, count + (link->lto && !link->as_it_is), (word)all, 0, 0);
    free(all);
    *handle = link; /* a failed link has a log */
    return error;
}

EXPORTED int nvJitLinkDestroy(struct link **handle) {
    if (!handle || !*handle) return NULL_INPUT;
    int error = (*handle)->theirs ? ask("nvJitLinkDestroy", &(*handle)->theirs, 0, 0, 0, 0) : SUCCESS;
    drop(*handle);
    *handle = NULL;
    return error;
}

static int keep(struct link *link, int kind, const void *data, size_t size) {
    struct input *inputs = realloc(link->inputs, (link->count + 1) * sizeof *inputs);
    if (!inputs) return INTERNAL;
    link->inputs = inputs;
    inputs[link->count] = (struct input){kind, malloc(size ? size : 1), size};
    if (!inputs[link->count].data) return INTERNAL;
    memcpy(inputs[link->count++].data, data, size);
    return SUCCESS;
}

/* -- the driver, which needs a context ------------------------------------------------------------------ */

struct context {
    void *context;
    int pushed;
};

static int enter(struct context *here) {
    *here = (struct context){0};
    if (cuInit(0)) return INTERNAL;
    if (!cuCtxGetCurrent(&here->context) && here->context) return SUCCESS;
    if (cuDevicePrimaryCtxRetain(&here->context, 0)) return INTERNAL;
    here->pushed = !cuCtxPushCurrent_v2(here->context);
    return here->pushed ? SUCCESS : INTERNAL;
}

static void leave(const struct context *here) {
    void *popped;
    if (!here->pushed) return;
    cuCtxPopCurrent_v2(&popped);
    cuDevicePrimaryCtxRelease_v2(0);
}

/* One PTX text of some inputs, in memory of its own. */
static int join(struct link *link, const struct input *inputs, size_t count, void **made, size_t *size) {
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES, TARGET, MAX_REGISTERS};
    void *values[] = {link->log, (void *)(uintptr_t)(LOG_BYTES - 1), (void *)(uintptr_t)link->target, (void *)(uintptr_t)link->registers};
    void *joined, *image = NULL;
    struct context here;
    *made = NULL;
    int error = enter(&here);
    if (error) return error;
    error = cuLinkCreate_v2(link->registers ? 4 : 3, options, values, &joined);
    if (!error) {
        for (size_t i = 0; !error && i < count; i++)
            error = cuLinkAddData_v2(joined, inputs[i].kind, inputs[i].data, inputs[i].size, NULL, 0, NULL, NULL);
        if (!error) error = cuLinkComplete(joined, &image, size);
        *made = error ? NULL : malloc(*size);
        if (*made) memcpy(*made, image, *size);
        cuLinkDestroy(joined);
    }
    leave(&here);
    return error ? PTX_COMPILE : *made ? SUCCESS : INTERNAL;
}

/* -- inputs -------------------------------------------------------------------------------------------------------- */

/* Kinds of images in a fatbin. */
enum { PTX_IMAGE = 1, LTO_IMAGE = 8 };

/* Whether the fatbins anywhere in a file hold images of a kind. */
static int holds(const unsigned char *data, size_t size, int wanted) {
    static const unsigned char MAGIC[] = {0x50, 0xed, 0x55, 0xba};
    const unsigned char *const end = data + size;
    enum { HEAD_BYTES = 16 }; /* of a fatbin's header, and of an image's, as far as they are read */
    for (const unsigned char *at = data; (at = memmem(at, size, MAGIC, sizeof MAGIC)); at++, size--) {
        size = (size_t)(end - at);
        if (size < HEAD_BYTES) return 0;
        uint16_t head;
        uint64_t body;
        memcpy(&head, at + 6, sizeof head);
        memcpy(&body, at + 8, sizeof body);
        if (head < HEAD_BYTES || head > size || body > size - head) continue;
        for (const unsigned char *image = at + head; body >= HEAD_BYTES;) {
            uint16_t kind;
            uint32_t image_head;
            uint64_t bytes;
            memcpy(&kind, image, sizeof kind);
            memcpy(&image_head, image + 4, sizeof image_head);
            memcpy(&bytes, image + 8, sizeof bytes);
            if (kind == wanted) return 1;
            if (image_head < HEAD_BYTES || image_head > body || bytes > body - image_head) break;
            image += image_head + bytes;
            body -= image_head + bytes;
        }
    }
    return 0;
}

/* Whether the driver links an input, not NVIDIA's library: it holds PTX, or no LTO-IR. */
static int is_ours(const struct link *link, int kind, const unsigned char *data, size_t size) {
    if (link->as_it_is || kind == LTOIR || kind == INDEX) return 0;
    if (kind == PTX || !link->lto || holds(data, size, PTX_IMAGE)) return 1;
    if (kind == ANY && size && (data[0] == '.' || data[0] == '/' || isspace(data[0]))) return 1;
    return kind != ANY && !holds(data, size, LTO_IMAGE);
}

EXPORTED int nvJitLinkAddData(struct link *link, int kind, const void *data, size_t size, const char *name) {
    if (!link || !data) return NULL_INPUT;
    int known = kind >= CUBIN && kind <= LIBRARY && kind != LTOIR;
    if (is_ours(link, kind, data, size)) return keep(link, DRIVERS[known ? kind : PTX], data, size);
    int error = ask("nvJitLinkAddData", link->theirs, (word)kind, (word)data, size, (word)name);
    link->lto_count += !error;
    return error;
}

EXPORTED int nvJitLinkAddFile(struct link *link, int kind, const char *path) {
    if (!link || !path) return NULL_INPUT;
    FILE *file = fopen(path, "rb");
    if (!file) return ask("nvJitLinkAddFile", link->theirs, (word)kind, (word)path, 0, 0);
    char *data = NULL;
    size_t size = 0;
    int error = fseek(file, 0, SEEK_END) || ftell(file) < 0 ? INVALID_INPUT : SUCCESS;
    if (!error) {
        size = (size_t)ftell(file);
        rewind(file);
        data = calloc(size + 1, 1);
        if (!data) error = INTERNAL;
        else if (fread(data, 1, size, file) != size) error = INVALID_INPUT;
    }
    fclose(file);
    if (!error) error = nvJitLinkAddData(link, kind, data, size, path);
    free(data);
    return error;
}

/* The PTX of the inputs for NVIDIA's library, with the functions that a PTX text calls. */
static int linked_ptx(struct link *link, const char *text, char **made) {
    size_t size = 0;
    void *root = text ? called_root(text, link->target, (const void *)(uintptr_t)theirs("nvJitLinkCreate"), &size) : NULL;
    if (root) ask("nvJitLinkAddData", link->theirs, LTOIR, (word)root, size, (word) "called");
    int error = ask("nvJitLinkComplete", link->theirs, 0, 0, 0, 0);
    if (!error) error = ask("nvJitLinkGetLinkedPtxSize", link->theirs, (word)&size, 0, 0, 0);
    char *linked = error ? NULL : calloc(size + 1, 1);
    if (linked) error = ask("nvJitLinkGetLinkedPtx", link->theirs, (word)linked, 0, 0, 0);
    *made = root && linked && !error ? called_shown(text, linked) : NULL;
    if (!*made) *made = linked;
    else free(linked);
    free(root);
    return error ? error : *made ? SUCCESS : INTERNAL;
}

EXPORTED int nvJitLinkComplete(struct link *link) {
    if (!link) return NULL_INPUT;
    if (link->as_it_is || (!link->count && !link->lto_count)) return ask("nvJitLinkComplete", link->theirs, 0, 0, 0, 0);
    if (link->lto_count) {
        void *text = NULL;
        char *made = NULL;
        size_t size;
        int error = link->count ? join(link, link->inputs, link->count, &text, &size) : SUCCESS;
        if (!error) error = linked_ptx(link, text, &made);
        if (!error) error = keep(link, DRIVERS[PTX], made, strlen(made) + 1);
        free(made);
        free(text);
        if (error) return error;
    }
    return join(link, link->inputs, link->count, &link->made, &link->size);
}

/* -- results ----------------------------------------------------------------------------------------------- */

EXPORTED int nvJitLinkGetLinkedCubinSize(struct link *link, size_t *size) {
    if (!link || !size) return NULL_INPUT;
    if (!link->made) return ask("nvJitLinkGetLinkedCubinSize", link->theirs, (word)size, 0, 0, 0);
    *size = link->size;
    return SUCCESS;
}

EXPORTED int nvJitLinkGetLinkedCubin(struct link *link, void *image) {
    if (!link || !image) return NULL_INPUT;
    if (!link->made) return ask("nvJitLinkGetLinkedCubin", link->theirs, (word)image, 0, 0, 0);
    memcpy(image, link->made, link->size);
    return SUCCESS;
}

EXPORTED int nvJitLinkGetErrorLogSize(struct link *link, size_t *size) {
    if (!link || !size) return NULL_INPUT;
    if (!link->log[0]) return ask("nvJitLinkGetErrorLogSize", link->theirs, (word)size, 0, 0, 0);
    *size = strlen(link->log) + 1;
    return SUCCESS;
}

EXPORTED int nvJitLinkGetErrorLog(struct link *link, char *log) {
    if (!link || !log) return NULL_INPUT;
    if (!link->log[0]) return ask("nvJitLinkGetErrorLog", link->theirs, (word)log, 0, 0, 0);
    memcpy(log, link->log, strlen(link->log) + 1);
    return SUCCESS;
}

#define OF_THEIRS(name) \
    EXPORTED int name(struct link *link, void *answer) { return link ? ask(#name, link->theirs, (word)answer, 0, 0, 0) : NULL_INPUT; }
OF_THEIRS(nvJitLinkGetInfoLog)
OF_THEIRS(nvJitLinkGetInfoLogSize)
OF_THEIRS(nvJitLinkGetLinkedLTOIR)
OF_THEIRS(nvJitLinkGetLinkedLTOIRSize)
OF_THEIRS(nvJitLinkGetLinkedPtx)
OF_THEIRS(nvJitLinkGetLinkedPtxSize)
FORWARD(nvJitLinkVersion, INTERNAL)
