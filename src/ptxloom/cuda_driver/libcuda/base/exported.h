/* Declares the symbols that a library exports. */
#ifndef PTXLOOM_EXPORTED_H
#define PTXLOOM_EXPORTED_H

#define EXPORTED __attribute__((visibility("default")))

/* An alias of another function of the same file, mostly an older version of it. */
#define SAME(symbol, target) EXPORTED extern __typeof__(target) symbol __attribute__((alias(#target)))

#endif
