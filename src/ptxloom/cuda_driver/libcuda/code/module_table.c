/* The table of modules and libraries. */
#include "base/handles.h"
#include "code/modules.h"

struct module *module_of(const void *handle) {
    struct module *module = object_of(A_MODULE, handle);
    return module ? module : object_of(A_LIBRARY, handle);
}

int module_number(const void *handle, uint64_t *number) {
    struct module *module = module_of(handle);
    if (!module) return INVALID_HANDLE;
    *number = module->number;
    return SUCCESS;
}
