/* Stands for NVIDIA's NVRTC or nvJitLink in tests, as far as it is asked: LTO-IR is text here, and machine code an ELF's first bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef NVRTC
static const char PTX[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";
static int for_an_architecture;
static char source[4096];

int nvrtcVersion(int *major, int *minor) {
    *major = 13, *minor = 5;
    return 0;
}
int nvrtcCreateProgram(void **program, const char *text, const char *name, int count, const char **headers, const char **names) {
    (void)name, (void)count, (void)headers, (void)names;
    *program = source;
    strncpy(source, text, sizeof source - 1);
    return 0;
}
int nvrtcDestroyProgram(void **program) {
    *program = NULL;
    return 0;
}
int nvrtcGetLTOIRSize(void *program, size_t *size) {
    (void)program;
    *size = strlen(source) + 1;
    return 0;
}
int nvrtcGetLTOIR(void *program, char *code) {
    (void)program;
    memcpy(code, source, strlen(source) + 1);
    return 0;
}
int nvrtcCompileProgram(void *program, int count, const char **options) {
    (void)program;
    for_an_architecture = count && !strcmp(options[0], "-arch=sm_80");
    return 0;
}
int nvrtcGetPTXSize(void *program, size_t *size) {
    (void)program;
    *size = sizeof PTX;
    return 0;
}
int nvrtcGetPTX(void *program, char *text) {
    (void)program;
    memcpy(text, PTX, sizeof PTX);
    return 0;
}
int nvrtcGetCUBINSize(void *program, size_t *size) {
    (void)program;
    *size = for_an_architecture ? 4 : 0;
    return 0;
}
int nvrtcGetCUBIN(void *program, char *code) {
    (void)program;
    memcpy(code,
           "\x7f"
           "ELF",
           4);
    return 0;
}
#else
struct link {
    int lto, ptx, called;
    char text[4096];
};

int nvJitLinkVersion(unsigned *major, unsigned *minor) {
    *major = 13, *minor = 5;
    return 0;
}
int nvJitLinkCreate(struct link **handle, uint32_t count, const char **options) {
    int (*export_table)(const void **, const void *);
    const void *table;
    *(void **)&export_table = dlsym(RTLD_DEFAULT, "cuGetExportTable");
    if (export_table && export_table(&table, "sixteen bytes...") == 0) return 1; /* NVIDIA's asks, too, and does without */
    struct link *link = *handle = calloc(1, sizeof *link);
    for (uint32_t i = 0; i < count; i++) {
        link->lto |= !strcmp(options[i], "-lto");
        link->ptx |= !strcmp(options[i], "-ptx");
        if (!strcmp(options[i], "-wrong")) return 1;
    }
    return 0;
}
int nvJitLinkDestroy(struct link **handle) {
    free(*handle);
    *handle = NULL;
    return 0;
}
int nvJitLinkAddData(struct link *link, int kind, const void *data, size_t size, const char *name) {
    (void)name;
    if (kind != 3) return 9;
    if (!link->lto) return 18;
    if (strncmp(data, "extern \"C\"", 10)) {
        memcpy(link->text, data, size);
        return 0;
    }
    link->called = 1; /* C++ that says what others call: these functions stay, but are local; the rest is declared */
    strcat(link->text, "// .globl ptxloom_called\n.extern .func absent\n()\n;\n"
                       ".visible .global .align 8 .u64 ptxloom_called[2] = {seven, absent};\n");
    return strstr(data, "void seven();") && strstr(data, "void absent();") && !strstr(data, "vprintf") ? 0 : 9;
}
int nvJitLinkComplete(struct link *link) {
    char *local = strstr(link->text, "\n.func");
    if (local && !link->called) local[1] = 0;
    return link->text[0] ? 0 : 6;
}
int nvJitLinkGetLinkedPtxSize(struct link *link, size_t *size) {
    *size = strlen(link->text) + 1;
    return link->ptx ? 0 : 6;
}
int nvJitLinkGetLinkedPtx(struct link *link, char *text) {
    strcpy(text, link->text);
    return link->ptx ? 0 : 6;
}
int nvJitLinkGetLinkedCubinSize(struct link *link, size_t *size) {
    *size = 4;
    return link->ptx ? 6 : 0;
}
int nvJitLinkGetLinkedCubin(struct link *link, void *code) {
    memcpy(code,
           "\x7f"
           "ELF",
           4);
    return link->ptx ? 6 : 0;
}
int nvJitLinkGetErrorLogSize(struct link *link, size_t *size) {
    (void)link;
    *size = sizeof "theirs";
    return 0;
}
int nvJitLinkGetErrorLog(struct link *link, char *log) {
    (void)link;
    strcpy(log, "theirs");
    return 0;
}
#endif
