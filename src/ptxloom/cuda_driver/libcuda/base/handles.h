/* Handles: numbers that are looked up in a table, so that a wild one is an error. */
#ifndef PTXLOOM_HANDLES_H
#define PTXLOOM_HANDLES_H

#include <stddef.h>

enum kind {
    A_CONTEXT = 1,
    A_STREAM,
    AN_EVENT,
    A_MODULE,
    A_FUNCTION,
    A_LIBRARY,
    A_LINK,
    A_GRAPH,
    A_NODE,
    AN_EXECUTABLE,
    A_POOL,
    A_USER_OBJECT,
    A_PHYSICAL,
    AN_ARRAY,
    A_MIPMAP,
    A_REFERENCE,
    A_CONDITION,
    A_GREEN_CONTEXT,
    A_RESOURCE_DESCRIPTION,
    A_CONDITION_VALUE,
    A_GRAPH_MEMORY,
    A_LOG_CALLBACK,
    A_NOTIFICATION,
};
void *handle_new(enum kind kind, size_t object_bytes); /* of a new zeroed object; NULL if out of memory */
void *object_of(enum kind kind, const void *handle);   /* NULL if it is not a handle of this kind */
void handle_free(const void *handle);                  /* frees its object, too */
int handle_gone(const void *handle);                   /* whether it was a handle once */
void *handle_next(enum kind kind, size_t *place);      /* iterates from a place of 0; NULL after the last */
void handles_forget(void);

#endif
