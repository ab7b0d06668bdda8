/* Values in memory that streams write, and wait for. */
#ifndef PTXLOOM_VALUES_H
#define PTXLOOM_VALUES_H

#include "streams/work.h"

int value_known(const struct value *value); /* whether the operation exists, whatever its address */

#endif
