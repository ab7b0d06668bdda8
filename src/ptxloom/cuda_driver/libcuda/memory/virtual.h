/* Addresses that programs reserve. */
#ifndef PTXLOOM_VIRTUAL_H
#define PTXLOOM_VIRTUAL_H

#include "base/errors.h"

int virtual_holds(device_pointer address);
uint64_t virtual_extent(device_pointer address, device_pointer *start); /* of the reservation around it */

#endif
