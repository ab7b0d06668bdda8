/* References to textures and surfaces of modules. */
#ifndef PTXLOOM_REFERENCES_H
#define PTXLOOM_REFERENCES_H

void references_forget(const void *module);

#endif
