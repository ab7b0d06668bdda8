/* Lists of handles that grow. */
#ifndef PTXLOOM_LISTS_H
#define PTXLOOM_LISTS_H

#include <stddef.h>

struct list {
    void **items;
    size_t count, room;
};
int list_add(struct list *list, void *item); /* an error if out of memory */
int list_has(const struct list *list, const void *item);
size_t list_count(const struct list *list, const void *item);
void list_remove(struct list *list, const void *item); /* the first occurrence, if any */
void list_drop(struct list *list);

#endif
