/* A program that loads NVIDIA's NVRTC or nvJitLink gets our wrapper (libnvrtc/theirs.h); one that is linked with
   NVRTC finds the two functions that return machine code here first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/errors.h"
#include "base/loading.h"

static const struct {
    const char *theirs, *ours;
} FRONTS[] = {{"libnvrtc.so", "libptxloom-nvrtc.so"}, {"libnvJitLink.so", "libptxloom-nvjitlink.so"}};
enum { LIBRARIES = sizeof FRONTS / sizeof *FRONTS, PATH_BYTES = 4096, NVRTC = 0, NVRTC_INTERNAL_ERROR = 11 };

typedef void *loader(const char *, int);

static loader *next_loader(void) {
    static _Atomic(loader *) kept;
    loader *found = atomic_load_explicit(&kept, memory_order_relaxed);
    if (!found) {
        *(void **)&found = dlsym(RTLD_NEXT, "dlopen");
        atomic_store_explicit(&kept, found, memory_order_relaxed);
    }
    return found;
}

static int library_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    int library = 0;
    while (library < LIBRARIES && (!name || strncmp(name, FRONTS[library].theirs, strlen(FRONTS[library].theirs)))) library++;
    return library;
}

int has_a_front(const char *path) { return library_of(path) < LIBRARIES; }

/* NVIDIA's library is not made global, so that a global look-up of a name finds ours. */
static __attribute__((noinline)) void *load_in_front(int library, const char *path, int flags) {
    void *theirs = next_loader()(path, flags & ~RTLD_GLOBAL);
    char ours[PATH_BYTES];
    Dl_info here;
    if (!theirs || !dladdr((void *)(uintptr_t)&library_of, &here)) return theirs;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash - here.dli_fname) + 1 : 0;
    if (snprintf(ours, sizeof ours, "%.*s%s", folder, here.dli_fname, FRONTS[library].ours) >= PATH_BYTES) return theirs;
    void *front = next_loader()(ours, RTLD_NOW | (flags & RTLD_GLOBAL));
    void (*stands_for)(void *) = NULL;
    if (front) *(void **)&stands_for = dlsym(front, "ptxloom_stands_for");
    if (!stands_for) return theirs;
    stands_for(theirs);
    return front;
}

/* Other libraries are loaded by a tail call, so that the search uses the caller's paths. */
EXPORTED void *dlopen(const char *path, int flags) {
    int library = library_of(path);
    return library == LIBRARIES ? next_loader()(path, flags) : load_in_front(library, path, flags);
}

static int keep_path_of_nvrtc(struct dl_phdr_info *library, size_t size, void *path) {
    (void)size;
    if (library_of(library->dlpi_name) != NVRTC) return 0;
    return snprintf(path, PATH_BYTES, "%s", library->dlpi_name) < PATH_BYTES;
}

typedef int nvrtc_question(void *program, void *answer);

/* A function of the loaded NVRTC, whatever its path; NULL if there is none. */
static nvrtc_question *nvrtcs(const char *name) {
    nvrtc_question *found = NULL;
    char path[PATH_BYTES];
    *(void **)&found = dlsym(RTLD_NEXT, name);
    if (!found && dl_iterate_phdr(keep_path_of_nvrtc, path)) {
        void *library = next_loader()(path, RTLD_LAZY | RTLD_NOLOAD);
        if (library) {
            *(void **)&found = dlsym(library, name);
            dlclose(library); /* the caller holds it */
        }
    }
    return found;
}

static int ask_nvrtc(const char *name, void *program, void *answer) {
    nvrtc_question *asked = nvrtcs(name);
    return asked ? asked(program, answer) : NVRTC_INTERNAL_ERROR;
}

/* As in libnvrtc/nvrtc.c: a program that was compiled for no architecture has no machine code. */
EXPORTED int nvrtcGetCUBINSize(void *program, size_t *size) {
    int error = ask_nvrtc("nvrtcGetCUBINSize", program, size);
    return error || !*size ? error : ask_nvrtc("nvrtcGetPTXSize", program, size);
}

EXPORTED int nvrtcGetCUBIN(void *program, char *code) {
    size_t size;
    int error = ask_nvrtc("nvrtcGetCUBINSize", program, &size);
    return error ? error : ask_nvrtc(size ? "nvrtcGetPTX" : "nvrtcGetCUBIN", program, code);
}
