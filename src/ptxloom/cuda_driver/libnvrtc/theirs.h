/* Wraps a library of NVIDIA's toolkit, the compiler or the linker, to get PTX instead of machine code.

   Nothing here can run machine code, but both can produce PTX. A program that loads NVIDIA's libnvrtc or
   libnvJitLink gets our documented functions (libcuda/loading.c), which forward all calls to NVIDIA's,
   unchanged, except those that make and read machine code. Without NVIDIA's library, there is none. */
#ifndef PTXLOOM_THEIRS_H
#define PTXLOOM_THEIRS_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../libcuda/base/exported.h"

typedef uintptr_t word; /* an argument that is forwarded unchanged */
typedef word function(word, word, word, word, word, word);

static _Atomic(void *) their_library;

EXPORTED void ptxloom_stands_for(void *library) { atomic_store(&their_library, library); }

/* A function of NVIDIA's library; NULL if it has none of that name. */
static inline function *theirs(const char *name) {
    function *found = NULL;
    *(void **)&found = dlsym(atomic_load(&their_library), name);
    return found;
}

/* A function whose arguments are forwarded unchanged; `missing` is the result if there is no such function. */
#define FORWARD(name, missing)                                           \
    EXPORTED function name;                                              \
    EXPORTED word name(word a, word b, word c, word d, word e, word f) { \
        function *call = theirs(#name);                                  \
        return call ? call(a, b, c, d, e, f) : (word)(missing);          \
    }

#endif
