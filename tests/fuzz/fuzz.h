/* fuzz.h - one function a reader: feed it bytes, and check what must hold of any input. */
#ifndef VXS_TESTS_FUZZ_H
#define VXS_TESTS_FUZZ_H

#include "voxsift/internal/core.h"

#include <stdlib.h>
#include <string.h>

int fuzz_tsv(const uint8_t *bytes, size_t size);
int fuzz_json(const uint8_t *bytes, size_t size);
int fuzz_npy(const uint8_t *bytes, size_t size);
int fuzz_nifti(const uint8_t *bytes, size_t size);

/* Ends the program as a crash does, so that a fuzzer keeps the input. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A refusal has a status, and one line that says why. */
#define REFUSED_WELL(err)                                                                          \
    HOLDS((err).status == VXS_BAD_DATA && (err).message[0] && !strchr((err).message, '\n'))

/* libFuzzer's entry point when VXS_FUZZER is defined; replay.c calls the functions by name. */
#ifdef VXS_FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
#define FUZZER(function)                                                                           \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)                                  \
    {                                                                                              \
        return function(bytes, size);                                                              \
    }
#else
#define FUZZER(function)
#endif

#endif
