/* Functions of LTO-IR that only PTX calls.

   nvJitLink makes PTX from LTO-IR only, and drops functions that no LTO-IR of the link calls. So one more input
   takes the addresses of all functions that PTX declares `.extern`: a few lines of C++, compiled by the NVRTC next to
   nvJitLink. In the output these functions are local, and undefined ones are declared without parameters. */
#define _GNU_SOURCE
#include "called.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TABLE[] = "ptxloom_called";
static const char *const OF_THE_SYSTEM[] = {"vprintf", "malloc", "free", "__assertfail"}; /* defined by no program */
enum { OF_THE_SYSTEM_COUNT = sizeof OF_THE_SYSTEM / sizeof *OF_THE_SYSTEM, PATH_BYTES = 4096 };

/* -- functions in a text ------------------------------------------------------------------------------------------- */

struct name {
    const char *start;
    size_t size;
};

static const char *after_space(const char *at) {
    while (isspace((unsigned char)*at)) at++;
    return at;
}

static int is_of_a_name(char one) { return isalnum((unsigned char)one) || one == '_' || one == '$'; }

/* The name after `.func` and its return value; empty if there is none. */
static struct name name_behind(const char *at) {
    at = after_space(at);
    if (*at == '(') {
        const char *end = strchr(at, ')');
        at = end ? after_space(end + 1) : "";
    }
    struct name name = {at, 0};
    while (is_of_a_name(at[name.size])) name.size++;
    return name;
}

/* The next function that a text declares `.extern`; moves `at` past it. */
static int next_extern(const char **at, struct name *name) {
    while ((*at = strstr(*at, ".extern"))) {
        const char *kind = after_space(*at + strlen(".extern"));
        *at = kind;
        if (strncmp(kind, ".func", strlen(".func"))) continue;
        *name = name_behind(kind + strlen(".func"));
        int ours = name->size > 0;
        for (int i = 0; i < OF_THE_SYSTEM_COUNT; i++)
            ours &= strlen(OF_THE_SYSTEM[i]) != name->size || memcmp(OF_THE_SYSTEM[i], name->start, name->size);
        if (ours) return 1;
    }
    return 0;
}

static int calls(const char *text, struct name wanted) {
    struct name name;
    while (next_extern(&text, &name))
        if (name.size == wanted.size && !memcmp(name.start, wanted.start, name.size)) return 1;
    return 0;
}

/* -- the root ------------------------------------------------------------------------------------------------------ */

/* Its C++; NULL if nothing is called. */
static char *source_of(const char *text) {
    char *source = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&source, &size);
    if (!out) return NULL;
    struct name name;
    int count = 0;
    for (const char *at = text; next_extern(&at, &name); count++)
        fprintf(out, "extern \"C\" __device__ void %.*s();\n", (int)name.size, name.start);
    fprintf(out, "extern \"C\" __device__ void (*const %s[])() __attribute__((used)) = {", TABLE);
    for (const char *at = text; next_extern(&at, &name);) fprintf(out, "%.*s, ", (int)name.size, name.start);
    fputs("};\n", out);
    if (fclose(out) || !count) {
        free(source);
        return NULL;
    }
    return source;
}

/* The NVRTC next to the linker, or the one that the program has loaded. */
static void *compiler_beside(const void *linker) {
    Dl_info where;
    char path[PATH_BYTES];
    void *found = dlopen("libptxloom-nvrtc.so", RTLD_NOW | RTLD_NOLOAD);
    if (found || !dladdr(linker, &where) || !where.dli_fname) return found;
    const char *slash = strrchr(where.dli_fname, '/'), *version = strstr(where.dli_fname, ".so");
    int folder = slash ? (int)(slash - where.dli_fname) + 1 : 0;
    int size = snprintf(path, sizeof path, "%.*slibnvrtc%s", folder, where.dli_fname, version ? version : ".so");
    return size < PATH_BYTES ? dlopen(path, RTLD_NOW) : NULL;
}

struct compiler {
    int (*create)(void **, const char *, const char *, int, const char **, const char **);
    int (*compile)(void *, int, const char **);
    int (*size)(void *, size_t *);
    int (*code)(void *, char *);
    int (*destroy)(void **);
};

static int find(struct compiler *found, void *library) {
    const struct {
        void *into;
        const char *name;
    } wanted[] = {
        {&found->create, "nvrtcCreateProgram"}, {&found->compile, "nvrtcCompileProgram"}, {&found->size, "nvrtcGetLTOIRSize"},
        {&found->code, "nvrtcGetLTOIR"},        {&found->destroy, "nvrtcDestroyProgram"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *address = library ? dlsym(library, wanted[i].name) : NULL;
        if (!address) return 0;
        memcpy(wanted[i].into, &address, sizeof address);
    }
    return 1;
}

void *called_root(const char *text, unsigned target, const void *linker, size_t *size) {
    struct compiler nvrtc;
    void *program = NULL;
    char *made = NULL, *source = source_of(text), architecture[40];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%u", target);
    if (source && find(&nvrtc, compiler_beside(linker)) && !nvrtc.create(&program, source, TABLE, 0, NULL, NULL)) {
        const char *options[] = {architecture, "-dlto", "--relocatable-device-code=true"};
        if (!nvrtc.compile(program, 3, options) && !nvrtc.size(program, size)) made = calloc(*size + 1, 1);
        if (made && nvrtc.code(program, made)) {
            free(made);
            made = NULL;
        }
        nvrtc.destroy(&program);
    }
    free(source);
    return made;
}

/* -- results ----------------------------------------------------------------------------------------------- */

/* Whether the declaration of a function has no parameters. */
static int takes_nothing(struct name name) {
    const char *at = after_space(name.start + name.size);
    return *at == '(' && *after_space(at + 1) == ')';
}

static const char *behind_statement(const char *at) {
    const char *end = strchr(at, ';');
    return end ? end + 1 : at + strlen(at);
}

/* Write a line of PTX to a file; returns the start of the next. */
static const char *show_line(FILE *out, const char *at, const char *text) {
    static const char EXTERN[] = ".extern .func", LOCAL[] = ".func";
    const char *end = strchrnul(at, '\n'), *start = at + strspn(at, " \t");
    if (*end) end++;
    if (!strncmp(start, EXTERN, strlen(EXTERN))) {
        struct name name = name_behind(start + strlen(EXTERN));
        if (takes_nothing(name) && calls(text, name)) return behind_statement(name.start); /* the text has details */
    }
    if (!strncmp(start, LOCAL, strlen(LOCAL)) && calls(text, name_behind(start + strlen(LOCAL)))) fputs(".visible ", out);
    const char *table = strncmp(start, "//", 2) ? memmem(at, (size_t)(end - at), TABLE, strlen(TABLE)) : NULL;
    if (table) return behind_statement(table);
    fwrite(at, 1, (size_t)(end - at), out);
    return end;
}

char *called_shown(const char *text, const char *linked) {
    char *shown = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);
    if (!out) return NULL;
    while (*linked) linked = show_line(out, linked, text);
    return fclose(out) ? NULL : shown;
}
