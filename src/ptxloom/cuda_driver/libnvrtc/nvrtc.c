/* NVRTC: returns PTX in place of machine code. */
#include "theirs.h"

enum { INTERNAL_ERROR = 11 };

FORWARD(nvrtcAddNameExpression, INTERNAL_ERROR)
FORWARD(nvrtcCompileProgram, INTERNAL_ERROR)
FORWARD(nvrtcCreateProgram, INTERNAL_ERROR)
FORWARD(nvrtcDestroyProgram, INTERNAL_ERROR)
FORWARD(nvrtcGetBundledHeadersInfo, INTERNAL_ERROR)
FORWARD(nvrtcGetErrorString, "there is no NVRTC")
FORWARD(nvrtcGetLTOIR, INTERNAL_ERROR)
FORWARD(nvrtcGetLTOIRSize, INTERNAL_ERROR)
FORWARD(nvrtcGetLoweredName, INTERNAL_ERROR)
FORWARD(nvrtcGetNVVM, INTERNAL_ERROR)
FORWARD(nvrtcGetNVVMSize, INTERNAL_ERROR)
FORWARD(nvrtcGetNumSupportedArchs, INTERNAL_ERROR)
FORWARD(nvrtcGetOptiXIR, INTERNAL_ERROR)
FORWARD(nvrtcGetOptiXIRSize, INTERNAL_ERROR)
FORWARD(nvrtcGetPCHCreateStatus, INTERNAL_ERROR)
FORWARD(nvrtcGetPCHHeapSize, INTERNAL_ERROR)
FORWARD(nvrtcGetPCHHeapSizeRequired, INTERNAL_ERROR)
FORWARD(nvrtcGetPTX, INTERNAL_ERROR)
FORWARD(nvrtcGetPTXSize, INTERNAL_ERROR)
FORWARD(nvrtcGetProgramLog, INTERNAL_ERROR)
FORWARD(nvrtcGetProgramLogSize, INTERNAL_ERROR)
FORWARD(nvrtcGetSupportedArchs, INTERNAL_ERROR)
FORWARD(nvrtcGetTileIR, INTERNAL_ERROR)
FORWARD(nvrtcGetTileIRSize, INTERNAL_ERROR)
FORWARD(nvrtcInstallBundledHeaders, INTERNAL_ERROR)
FORWARD(nvrtcRemoveBundledHeaders, INTERNAL_ERROR)
FORWARD(nvrtcSetFlowCallback, INTERNAL_ERROR)
FORWARD(nvrtcSetPCHHeapSize, INTERNAL_ERROR)
FORWARD(nvrtcVersion, INTERNAL_ERROR)

static int ask(const char *name, word program, void *answer) {
    function *call = theirs(name);
    return call ? (int)call(program, (word)answer, 0, 0, 0, 0) : INTERNAL_ERROR;
}

/* A program that was compiled for no architecture has no machine code, so nothing replaces it. */
EXPORTED int nvrtcGetCUBINSize(word program, size_t *size) {
    int error = ask("nvrtcGetCUBINSize", program, size);
    return error || !*size ? error : ask("nvrtcGetPTXSize", program, size);
}

EXPORTED int nvrtcGetCUBIN(word program, char *text) {
    size_t size;
    int error = ask("nvrtcGetCUBINSize", program, &size);
    return error ? error : ask(size ? "nvrtcGetPTX" : "nvrtcGetCUBIN", program, text);
}
