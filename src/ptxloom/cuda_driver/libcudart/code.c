/* Code within a program: fat binaries that its constructors register, and their kernels and variables.

   Code is loaded on first use. Host addresses identify kernels and variables; handles of kernels that the program
   received identify themselves. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { WRAPPER_MAGIC = 0x466243b1, WITH_LINKED_PARTS = 2, INPUT_FATBINARY = 3 };

struct wrapper { /* emitted by nvcc for each object of a program */
    int magic, version;
    const void *image;
    const void *const *parts; /* if version is 2: the fat binaries that nvlink linked, null-terminated */
};

struct binary {
    const struct wrapper *wrapper;
    handle library;
    int failed;
    struct binary *next;
};

enum kind { KERNEL, VARIABLE, MANAGED, HANDLE };

struct symbol {
    const void *host; /* NULL if the slot is free */
    const char *name;
    struct binary *binary;
    enum kind kind;
    handle kernel;
    char *address;
    size_t bytes;
};

int cuLibraryLoadData(handle *library, const void *code, void *jit, void *jit_values, unsigned jit_count, void *options,
                      void *option_values, unsigned option_count);
int cuLibraryUnload(handle library);
int cuLibraryGetKernel(handle *kernel, handle library, const char *name);
int cuLibraryGetGlobal(char **address, size_t *bytes, handle library, const char *name);
int cuLibraryGetManaged(char **address, size_t *bytes, handle library, const char *name);
int cuLinkCreate_v2(unsigned count, void *options, void *values, handle *state);
int cuLinkAddData_v2(handle state, int type, const void *data, size_t bytes, const char *name, unsigned count, void *options, void *values);
int cuLinkComplete(handle state, const void **cubin, size_t *bytes);
int cuLinkDestroy(handle state);
int ptxloom_image_bytes(const void *image, size_t *bytes);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct binary *binaries;
static struct symbol *table; /* open addressing; a power of two */
static size_t room, used;

static struct symbol *place(const void *host) {
    size_t at = ((uintptr_t)host >> 3) * 0x9E3779B97F4A7C15u >> 20;
    while (table[at & (room - 1)].host && table[at & (room - 1)].host != host) at++;
    return &table[at & (room - 1)];
}

static struct symbol *find(const void *host) {
    if (!host || !room) return NULL;
    struct symbol *found = place(host);
    return found->host ? found : NULL;
}

static void rebuild(size_t wanted, const struct binary *without) {
    struct symbol *old = table;
    size_t count = room;
    struct symbol *made = calloc(wanted, sizeof *made);
    if (!made) abort();
    table = made;
    room = wanted;
    used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!old[i].host || (without && old[i].binary == without)) continue;
        *place(old[i].host) = old[i];
        used++;
    }
    free(old);
}

static void insert(struct symbol symbol) {
    if (!symbol.host) return;
    if (2 * (used + 1) > room) rebuild(room ? 2 * room : 256, NULL);
    struct symbol *into = place(symbol.host);
    used += !into->host;
    *into = symbol;
}

/* A program of separately compiled parts contains nvlink's output, machine code alone, and the parts with their PTX. */
static int load_parts(struct binary *binary) {
    handle state;
    const void *linked;
    size_t bytes, failed = (size_t)cuLinkCreate_v2(0, NULL, NULL, &state);
    if (failed) return (int)failed;
    for (const void *const *part = binary->wrapper->parts; *part && !failed; part++) {
        failed = (size_t)ptxloom_image_bytes(*part, &bytes);
        if (!failed) failed = (size_t)cuLinkAddData_v2(state, INPUT_FATBINARY, *part, bytes, "part", 0, NULL, NULL);
    }
    if (!failed) failed = (size_t)cuLinkComplete(state, &linked, &bytes);
    if (!failed) failed = (size_t)cuLibraryLoadData(&binary->library, linked, NULL, NULL, 0, NULL, NULL, 0);
    cuLinkDestroy(state);
    return (int)failed;
}

static int resolve_variable(struct symbol *symbol) {
    if (symbol->address) return SUCCESS;
    int failed = symbol->kind == MANAGED ? cuLibraryGetManaged(&symbol->address, &symbol->bytes, symbol->binary->library, symbol->name)
                                         : cuLibraryGetGlobal(&symbol->address, &symbol->bytes, symbol->binary->library, symbol->name);
    if (!failed && symbol->kind == MANAGED) *(char **)symbol->host = symbol->address;
    return failed;
}

static int load(struct binary *binary) {
    const struct wrapper *wrapper = binary->wrapper;
    if (binary->library || binary->failed) return binary->failed;
    if (wrapper->version == WITH_LINKED_PARTS && wrapper->parts && *wrapper->parts) binary->failed = load_parts(binary);
    else binary->failed = cuLibraryLoadData(&binary->library, wrapper->image, NULL, NULL, 0, NULL, NULL, 0);
    for (size_t i = 0; i < room && !binary->failed; i++)
        if (table[i].host && table[i].kind == MANAGED && table[i].binary == binary) binary->failed = resolve_variable(&table[i]);
    return binary->failed;
}

static void unload(struct binary *binary) {
    if (binary->library) cuLibraryUnload(binary->library);
    binary->library = NULL;
    binary->failed = SUCCESS;
    for (size_t i = 0; i < room; i++) {
        if (!table[i].host || table[i].binary != binary) continue;
        table[i].kernel = NULL;
        table[i].address = NULL;
    }
}

static void unload_all(void) {
    pthread_mutex_lock(&lock);
    for (struct binary *binary = binaries; binary; binary = binary->next) unload(binary);
    pthread_mutex_unlock(&lock);
}

EXPORTED int cudaDeviceReset(void) { return told(reset(unload_all)); }

static int kernel_locked(const void *function, handle *kernel) {
    struct symbol *symbol = find(function);
    if (!symbol || (symbol->kind != KERNEL && symbol->kind != HANDLE)) return INVALID_DEVICE_FUNCTION;
    if (!symbol->kernel) {
        if (symbol->kind == HANDLE) return INVALID_DEVICE_FUNCTION; /* its library is gone */
        int failed = load(symbol->binary);
        if (failed) return failed;
        if (cuLibraryGetKernel(&symbol->kernel, symbol->binary->library, symbol->name)) return INVALID_DEVICE_FUNCTION;
    }
    *kernel = symbol->kernel;
    return SUCCESS;
}

int kernel_of(const void *function, handle *kernel) {
    pthread_mutex_lock(&lock);
    int failed = kernel_locked(function, kernel);
    pthread_mutex_unlock(&lock);
    return failed;
}

static struct symbol *variable_named(const void *symbol) {
    struct symbol *found = find(symbol);
    if (found && (found->kind == VARIABLE || found->kind == MANAGED)) return found;
    for (size_t i = 0; i < room; i++) /* the program identifies a managed variable by the address stored in its own */
        if (table[i].host && table[i].kind == MANAGED && table[i].address == symbol && symbol) return &table[i];
    return NULL;
}

int variable_of(const void *symbol, char **address, size_t *bytes) {
    int failed = INVALID_SYMBOL;
    pthread_mutex_lock(&lock);
    struct symbol *found = variable_named(symbol);
    if (found && !(failed = load(found->binary))) failed = resolve_variable(found) ? INVALID_SYMBOL : SUCCESS;
    if (!failed) {
        *address = found->address;
        *bytes = found->bytes;
    }
    pthread_mutex_unlock(&lock);
    return failed;
}

int part_of(const void *symbol, size_t offset, size_t bytes, char **address) {
    size_t room_bytes = 0;
    int failed = ready();
    if (!failed) failed = variable_of(symbol, address, &room_bytes);
    if (failed) return failed;
    if (bytes > room_bytes || offset > room_bytes - bytes) return INVALID_VALUE;
    *address += offset;
    return SUCCESS;
}

const void *function_of(handle kernel) {
    const void *found = kernel;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < room; i++)
        if (table[i].host && table[i].kind == KERNEL && table[i].kernel == kernel) found = table[i].host;
    pthread_mutex_unlock(&lock);
    return found;
}

EXPORTED void **__cudaRegisterFatBinary(const struct wrapper *wrapper) {
    struct binary *binary = calloc(1, sizeof *binary);
    if (!binary || wrapper->magic != WRAPPER_MAGIC) abort();
    binary->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    binary->next = binaries;
    binaries = binary;
    pthread_mutex_unlock(&lock);
    return (void **)binary;
}

EXPORTED void __cudaRegisterFatBinaryEnd(void **given) { (void)given; }

EXPORTED void __cudaUnregisterFatBinary(void **given) {
    struct binary *binary = (struct binary *)given;
    pthread_mutex_lock(&lock);
    unload(binary);
    rebuild(room ? room : 256, binary);
    for (struct binary **link = &binaries; *link; link = &(*link)->next)
        if (*link == binary) {
            *link = binary->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    free(binary);
}

static void registered(struct symbol symbol) {
    pthread_mutex_lock(&lock);
    insert(symbol);
    pthread_mutex_unlock(&lock);
}

EXPORTED void __cudaRegisterFunction(void **given, const void *host, char *device, const char *name, int limit, void *thread, void *block,
                                     void *block_size, void *grid_size, int *warp_size) {
    (void)device, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    registered((struct symbol){.host = host, .name = name, .binary = (struct binary *)given, .kind = KERNEL});
}

EXPORTED void __cudaRegisterVar(void **given, char *host, char *address, const char *name, int external, size_t bytes, int constant,
                                int global) {
    (void)address, (void)external, (void)bytes, (void)constant, (void)global;
    registered((struct symbol){.host = host, .name = name, .binary = (struct binary *)given, .kind = VARIABLE});
}

EXPORTED void __cudaRegisterManagedVar(void **given, void **host, char *address, const char *name, int external, size_t bytes, int constant,
                                       int global) {
    (void)address, (void)external, (void)bytes, (void)constant, (void)global;
    registered((struct symbol){.host = host, .name = name, .binary = (struct binary *)given, .kind = MANAGED});
}

EXPORTED char __cudaInitModule(void **given) {
    int failed = ready();
    if (failed) return (char)(told(failed), 0);
    pthread_mutex_lock(&lock);
    failed = load((struct binary *)given);
    pthread_mutex_unlock(&lock);
    return (char)(told(failed) == SUCCESS);
}

/* Compiled launches keep the result in a static variable: return the host address, which survives a reset. */
EXPORTED int __cudaGetKernel(const void **kernel, const void *function) {
    *kernel = function;
    return SUCCESS;
}

EXPORTED int cudaGetKernel(handle *kernel, const void *function) {
    if (!kernel) return told(INVALID_VALUE);
    START();
    pthread_mutex_lock(&lock);
    int failed = kernel_locked(function, kernel);
    if (!failed) insert((struct symbol){.host = *kernel, .binary = find(function)->binary, .kind = HANDLE, .kernel = *kernel});
    pthread_mutex_unlock(&lock);
    return told(failed);
}

EXPORTED int cudaLibraryGetKernel(handle *kernel, handle library, const char *name) {
    START();
    int failed = cuLibraryGetKernel(kernel, library, name);
    if (!failed) registered((struct symbol){.host = *kernel, .kind = HANDLE, .kernel = *kernel});
    return told(failed);
}

int cuKernelGetFunction(handle *function, handle kernel);

EXPORTED int cudaGetFuncBySymbol(handle *function, const void *symbol) {
    handle kernel;
    START();
    int failed = kernel_of(symbol, &kernel);
    if (!failed) failed = cuKernelGetFunction(function, kernel);
    if (!failed) registered((struct symbol){.host = *function, .kind = HANDLE, .kernel = *function});
    return told(failed);
}

EXPORTED int cudaGetSymbolAddress(char **address, const void *symbol) {
    size_t bytes;
    START();
    return told(address ? variable_of(symbol, address, &bytes) : INVALID_VALUE);
}

EXPORTED int cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    char *address;
    START();
    return told(bytes ? variable_of(symbol, &address, bytes) : INVALID_VALUE);
}
