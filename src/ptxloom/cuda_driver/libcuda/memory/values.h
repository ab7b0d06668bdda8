/* Values in memory that streams write, and wait for. */
#ifndef PTXLOOM_VALUES_H
#define PTXLOOM_VALUES_H

#include "streams/work.h"

int value_known(const struct value *value); /* whether there is such an operation, wherever its address may be */

#endif
