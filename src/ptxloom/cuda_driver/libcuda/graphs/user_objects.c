/* User objects: objects of a program that graphs keep alive, and the destructor that is called after the last reference. */
#include <stdlib.h>

#include "base/handles.h"
#include "graphs/graphs.h"

enum { MOST_AT_ONCE = 0x7fffffff };

struct user_object {
    void *argument;
    void (*destroy)(void *);
    uint64_t uses;
};

static int release(void *handle, uint64_t times) {
    struct user_object *one = object_of(A_USER_OBJECT, handle);
    if (!one || times == 0 || times > one->uses) return INVALID_VALUE;
    one->uses -= times;
    if (one->uses) return SUCCESS;
    void (*destroy)(void *) = one->destroy;
    void *argument = one->argument;
    handle_free(handle);
    int held = lock_release();
    destroy(argument);
    lock_take(held);
    return SUCCESS;
}

EXPORTED int cuUserObjectCreate(void **handle, void *argument, void (*destroy)(void *), unsigned uses, unsigned flags) {
    GIVEN(handle && destroy);
    DRIVER;
    if (uses == 0 || flags != 1) return INVALID_VALUE;
    void *made = handle_new(A_USER_OBJECT, sizeof(struct user_object));
    struct user_object *one = object_of(A_USER_OBJECT, made);
    if (!one) return OUT_OF_MEMORY;
    *one = (struct user_object){argument, destroy, uses};
    *handle = made;
    return SUCCESS;
}

EXPORTED int cuUserObjectRetain(void *handle, unsigned times) {
    GIVEN(handle);
    DRIVER;
    struct user_object *one = object_of(A_USER_OBJECT, handle);
    if (!one || times == 0 || times > MOST_AT_ONCE) return INVALID_VALUE;
    one->uses += times;
    return SUCCESS;
}

EXPORTED int cuUserObjectRelease(void *object, unsigned times) {
    GIVEN(object);
    DRIVER;
    return release(object, times);
}

EXPORTED int cuGraphRetainUserObject(void *graph_handle, void *handle, unsigned times, unsigned flags) {
    GIVEN(graph_handle && handle);
    enum { MOVE = 1, MOST = 4096 };
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, graph_handle);
    struct user_object *one = object_of(A_USER_OBJECT, handle);
    if (!graph || !one || times == 0 || times > MOST || flags > MOVE || (flags && times > one->uses)) return INVALID_VALUE;
    for (unsigned i = 0; i < times; i++) TRY(list_add(&graph->kept, handle));
    if (!flags) one->uses += times;
    return SUCCESS;
}

EXPORTED int cuGraphReleaseUserObject(void *graph_handle, void *handle, unsigned times) {
    GIVEN(graph_handle);
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, graph_handle);
    if (!graph || times == 0) return INVALID_VALUE;
    if (!list_has(&graph->kept, handle)) return INVALID_VALUE;
    if (list_count(&graph->kept, handle) < times) return SUCCESS; /* and release nothing */
    for (unsigned i = 0; i < times; i++) {
        list_remove(&graph->kept, handle);
        TRY(release(handle, 1));
    }
    return SUCCESS;
}

int user_objects_keep(struct list *to, const struct list *from) {
    for (size_t i = 0; i < from->count; i++) {
        struct user_object *one = object_of(A_USER_OBJECT, from->items[i]);
        if (!one) continue;
        TRY(list_add(to, from->items[i]));
        one->uses++;
    }
    return SUCCESS;
}

void user_objects_drop(struct list *kept) {
    struct list all = *kept;
    *kept = (struct list){0};
    for (size_t i = 0; i < all.count; i++) release(all.items[i], 1);
    list_drop(&all);
}
