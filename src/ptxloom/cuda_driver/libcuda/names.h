/* What the generated table of names is made of. */
#ifndef PTXLOOM_NAMES_H
#define PTXLOOM_NAMES_H

#include "base/exported.h"

/* A missing function returns CUDA_ERROR_NOT_SUPPORTED, and is listed in the report. */
int function_missing(const char *name);
#define STUB(symbol, name)                           \
    EXPORTED __attribute__((weak)) int symbol(void); \
    EXPORTED __attribute__((weak)) int symbol(void) { return function_missing(name); }

/* Variants for the default stream of a thread: here every stream is done when a call returns. The jump keeps all
   arguments where they are, whatever they are. */
#if defined(__x86_64__)
#define ALIAS(symbol, target)                                                                          \
    __asm__(".globl " #symbol "\n.type " #symbol ",@function\n" #symbol ":\n\tjmp " #target "@PLT\n"); \
    EXPORTED int symbol(void);
#elif defined(__aarch64__)
#define ALIAS(symbol, target)                                                                    \
    __asm__(".globl " #symbol "\n.type " #symbol ",%function\n" #symbol ":\n\tb " #target "\n"); \
    EXPORTED int symbol(void);
#else
#define ALIAS(symbol, target)
#endif

struct function_name {
    const char *name;
    int version;
    void (*address)(void);
};

struct error_name {
    int number;
    const char *name;
    const char *words;
};

extern const int driver_version;
extern const struct function_name function_names[];
extern const int function_name_count;
extern const struct error_name error_names[];
extern const int error_name_count;
extern const int last_device_attribute;

#endif
