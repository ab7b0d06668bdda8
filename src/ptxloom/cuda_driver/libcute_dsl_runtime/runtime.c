/* The runtime library for host code of the CuTe DSL, which CUTE_DSL_LIBS names: CUDA's functions under names of its
   own, a library of kernels that is loaded once, and errors as exceptions of TVM FFI.

   Derived from the code that version 4.8 of the DSL generates. If a function is missing here, the DSL names it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../libcudart/runtime.h"

/* functions with the same arguments */
ALIAS(_cudaDeviceGetAttribute, cudaDeviceGetAttribute)
ALIAS(_cudaDeviceSynchronize, cudaDeviceSynchronize)
ALIAS(_cudaFuncSetAttribute, cudaFuncSetAttribute)
ALIAS(_cudaGetDevice, cudaGetDevice)
ALIAS(_cudaGetDeviceCount, cudaGetDeviceCount)
ALIAS(_cudaKernelSetAttributeForDevice, cudaKernelSetAttributeForDevice)
ALIAS(_cudaLaunchKernelEx, cudaLaunchKernelExC)
ALIAS(_cudaLibraryGetGlobal, cudaLibraryGetGlobal)
ALIAS(_cudaLibraryGetKernel, cudaLibraryGetKernel)
ALIAS(_cudaLibraryLoadData, cudaLibraryLoadData)
ALIAS(_cudaLibraryUnload, cudaLibraryUnload)
ALIAS(_cudaSetDevice, cudaSetDevice)
ALIAS(_cuKernelGetAttribute, cuKernelGetAttribute)
ALIAS(_cuTensorMapEncodeTiled, cuTensorMapEncodeTiled)

int cudaGetDeviceCount(int *count);
int cudaLibraryUnload(handle library);
const char *cudaGetErrorName(int error);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct loaded { /* the target of the program's variable */
    handle library;
    int devices; /* the number of devices that it is prepared for */
};

/* Load a module's kernels, once, into a variable of the program that is zero at first. */
static int load(struct loaded **state, int (*make)(handle *library), int (*prepare)(handle *library, int device)) {
    int devices = 0;
    if (*state) return SUCCESS;
    struct loaded *made = calloc(1, sizeof *made);
    if (!made) return UNKNOWN;
    int failed = cudaGetDeviceCount(&devices);
    if (!failed) failed = make(&made->library);
    for (; !failed && made->devices < devices; made->devices++) failed = prepare(&made->library, made->devices);
    if (failed) free(made);
    else *state = made;
    return failed;
}

EXPORTED int cuda_dialect_init_library_once(struct loaded **state, int (*make)(handle *library),
                                            int (*prepare)(handle *library, int device),
                                            void (*tell)(const char *kind, const char *message));
EXPORTED int cuda_dialect_init_library_once(struct loaded **state, int (*make)(handle *library),
                                            int (*prepare)(handle *library, int device),
                                            void (*tell)(const char *kind, const char *message)) {
    char message[64];
    pthread_mutex_lock(&lock);
    int failed = load(state, make, prepare);
    pthread_mutex_unlock(&lock);
    snprintf(message, sizeof message, "CUDA Error Code: %d", failed);
    if (failed && tell) tell("CUDADialectError", message);
    return failed;
}

EXPORTED void cuda_dialect_unload_library_once(struct loaded **state);
EXPORTED void cuda_dialect_unload_library_once(struct loaded **state) {
    pthread_mutex_lock(&lock);
    struct loaded *made = *state;
    *state = NULL;
    pthread_mutex_unlock(&lock);
    if (made) cudaLibraryUnload(made->library);
    free(made);
}

EXPORTED const char *cuda_dialect_get_error_name(int error);
EXPORTED const char *cuda_dialect_get_error_name(int error) { return cudaGetErrorName(error); }

typedef void set_raised(const char *kind, const char *const *parts, int count);

EXPORTED void CuteDSLRT_TVMFFISetRaisedCudaError(set_raised *tell, int error);
EXPORTED void CuteDSLRT_TVMFFISetRaisedCudaError(set_raised *tell, int error) {
    char message[64];
    const char *parts[] = {message};
    snprintf(message, sizeof message, "CUDA Error Code: %d", error);
    tell("CUDADialectError", parts, 1);
}
