/* Copies and fills: parameters, and whether they are legal. */
#ifndef PTXLOOM_COPIES_H
#define PTXLOOM_COPIES_H

#include "memory/memory.h"
#include "streams/work.h"

int copy_of_box(const struct copy3d *given, struct copy *copy, enum when when);
struct copy3d copy_as_given(const struct copy *copy);
int copy_legal(const struct copy *copy, enum when when);
int fill_legal(const struct fill *fill, enum when when);
enum when when_of(void *stream); /* LATER if its work is recorded now */

#endif
