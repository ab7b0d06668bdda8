/* Addresses that programs set aside. */
#ifndef PTXLOOM_VIRTUAL_H
#define PTXLOOM_VIRTUAL_H

#include "base/errors.h"

int virtual_holds(device_pointer address);
uint64_t virtual_extent(device_pointer address, device_pointer *start); /* of what was set aside around it */

#endif
