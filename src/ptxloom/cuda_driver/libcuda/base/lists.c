/* Lists of handles that grow. */
#include "base/lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

int list_add(struct list *list, void *item) {
    if (list->count == list->room) {
        size_t larger = list->room ? 2 * list->room : 8;
        void **moved = realloc(list->items, larger * sizeof *moved);
        if (!moved) return OUT_OF_MEMORY;
        list->items = moved;
        list->room = larger;
    }
    list->items[list->count++] = item;
    return SUCCESS;
}

int list_has(const struct list *list, const void *item) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == item) return 1;
    return 0;
}

size_t list_count(const struct list *list, const void *item) {
    size_t found = 0;
    for (size_t i = 0; i < list->count; i++) found += list->items[i] == item;
    return found;
}

void list_remove(struct list *list, const void *item) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == item) {
            memmove(list->items + i, list->items + i + 1, (list->count - i - 1) * sizeof *list->items);
            list->count--;
            return;
        }
}

void list_drop(struct list *list) {
    free(list->items);
    *list = (struct list){0};
}
