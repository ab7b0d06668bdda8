/* The origin of a call, for reports: a line of Python, or a function of a library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#include "base/origin.h"

/* Python's stable interface, if this process has one. */
struct python {
    int (*initialized)(void);
    int (*ensure)(void);
    void (*release)(int);
    void *(*frame)(void);
    void *(*back)(void *);
    void *(*code)(void *);
    int (*line)(void *);
    void *(*attribute)(void *, const char *);
    const char *(*text)(void *);
    void (*drop)(void *);
    void (*keep)(void *);
    void (*clear)(void);
};

static int find_python(struct python *p) {
    struct {
        void *into;
        const char *name;
    } wanted[] = {
        {&p->initialized, "Py_IsInitialized"},
        {&p->ensure, "PyGILState_Ensure"},
        {&p->release, "PyGILState_Release"},
        {&p->frame, "PyEval_GetFrame"},
        {&p->back, "PyFrame_GetBack"},
        {&p->code, "PyFrame_GetCode"},
        {&p->line, "PyFrame_GetLineNumber"},
        {&p->attribute, "PyObject_GetAttrString"},
        {&p->text, "PyUnicode_AsUTF8"},
        {&p->drop, "Py_DecRef"},
        {&p->keep, "Py_IncRef"},
        {&p->clear, "PyErr_Clear"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(RTLD_DEFAULT, wanted[i].name);
        if (!found) return 0;
        memcpy(wanted[i].into, &found, sizeof found);
    }
    return p->initialized();
}

/* Whether a file belongs to an installed package, or to Python's own library. */
static int is_of_a_package(const char *file) { return strstr(file, "-packages/") || strstr(file, "/lib/python3") || file[0] == '<'; }

/* The innermost frame of the program's own code, or else the innermost. */
static int python_origin(char *text, size_t room) {
    struct python p;
    int found = 0;
    if (!find_python(&p)) return 0;
    int state = p.ensure();
    void *frame = p.frame();
    if (frame) p.keep(frame);
    while (frame && found < 2) {
        void *code = p.code(frame), *name = p.attribute(code, "co_filename");
        const char *file = name ? p.text(name) : NULL;
        int own = file && !is_of_a_package(file);
        if (file && (own || !found)) snprintf(text, room, "%s:%d", file, p.line(frame));
        if (file) found = own ? 2 : 1;
        if (!name) p.clear();
        if (name) p.drop(name);
        p.drop(code);
        void *outer = p.back(frame);
        p.drop(frame);
        frame = outer;
    }
    if (frame) p.drop(frame);
    p.release(state);
    return found;
}

static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The first caller outside CUDA's libraries. */
static void native_origin(char *text, size_t room) {
    void *frames[16];
    Dl_info own, info;
    int count = backtrace(frames, 16);
    text[0] = 0;
    if (!dladdr((void *)native_origin, &own)) return;
    for (int i = 0; i < count; i++) {
        if (!dladdr(frames[i], &info) || info.dli_fbase == own.dli_fbase) continue;
        if (!info.dli_fname || !strncmp(file_of(info.dli_fname), "libcudart", 9)) continue;
        size_t offset = (size_t)((char *)frames[i] - (char *)(info.dli_sname ? info.dli_saddr : info.dli_fbase));
        const char *file = file_of(info.dli_fname);
        if (info.dli_sname) snprintf(text, room, "%s (%s+0x%zx)", info.dli_sname, file, offset);
        else snprintf(text, room, "%s+0x%zx", file, offset);
        return;
    }
}

void call_origin(char *text, size_t room) {
    if (!python_origin(text, room)) native_origin(text, room);
}
