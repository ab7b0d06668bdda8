/* What stands in front of a library of NVIDIA's toolkit: the compiler and the linker, asked for PTX instead of machine code.

   Nothing here can run machine code, and both can say the same in PTX. Where a program loads NVIDIA's libnvrtc or
   libnvJitLink, it gets the documented functions of ours (libcuda/loading.c), which pass all calls on to NVIDIA's,
   unchanged, but those that make and read machine code. Where it has none, there is none. */
#ifndef PTXLOOM_THEIRS_H
#define PTXLOOM_THEIRS_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../libcuda/base/exported.h"

typedef uintptr_t word; /* an argument that is passed on as it came */
typedef word function(word, word, word, word, word, word);

static _Atomic(void *) their_library;

EXPORTED void ptxloom_stands_for(void *library) { atomic_store(&their_library, library); }

/* A function of NVIDIA's; NULL if it has none of that name. */
static inline function *theirs(const char *name) {
    function *found = NULL;
    *(void **)&found = dlsym(atomic_load(&their_library), name);
    return found;
}

/* A function whose arguments are passed on as they came; `missing` is the result if there is no such function. */
#define FORWARD(name, missing)                                           \
    EXPORTED function name;                                              \
    EXPORTED word name(word a, word b, word c, word d, word e, word f) { \
        function *call = theirs(#name);                                  \
        return call ? call(a, b, c, d, e, f) : (word)(missing);          \
    }

#endif
