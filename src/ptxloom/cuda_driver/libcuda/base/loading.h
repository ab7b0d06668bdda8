/* Libraries of NVIDIA's that have a wrapper here. */
#ifndef PTXLOOM_LOADING_H
#define PTXLOOM_LOADING_H

int has_a_front(const char *path);

#endif
