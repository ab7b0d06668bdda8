/* Programs' advice on managed memory. */
#ifndef PTXLOOM_ADVICE_H
#define PTXLOOM_ADVICE_H

#include "memory/allocations.h"

enum advice { SET_READ_MOSTLY = 1, UNSET_READ_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED_BY, UNSET_ACCESSED_BY, MOVED };
int advice_keep(device_pointer start, uint64_t size, enum advice advice, struct location where);
int advice_legal(const void *data, size_t width, int attribute); /* whether a query of a range is legal */
void advice_tell(int *into, size_t width, int attribute, device_pointer start, uint64_t size);
void advice_drop(device_pointer start, uint64_t size);

#endif
