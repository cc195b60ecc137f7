/* replay.c - gives files to the function a fuzzer would give them to: replay READER FILE...
 *
 * Seeds, and every input that once broke a reader, are replayed by the tests. */
#include "tests/fuzz/fuzz.h"
#include "voxsift/internal/files.h"

static const struct {
    const char *name;
    int (*read)(const uint8_t *bytes, size_t size);
} readers[] = {
    { "tsv", fuzz_tsv },
    { "json", fuzz_json },
    { "npy", fuzz_npy },
    { "nifti", fuzz_nifti },
};

int main(int argc, char **argv)
{
    int (*read)(const uint8_t *bytes, size_t size) = NULL;
    for (size_t k = 0; k < sizeof(readers) / sizeof(readers[0]); k++)
        if (argc > 1 && strcmp(argv[1], readers[k].name) == 0)
            read = readers[k].read;
    if (!read) {
        fprintf(stderr, "usage: replay tsv|json|npy|nifti FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        vxs_error err = VXS_ERROR_INIT;
        char *bytes = NULL;
        size_t length = 0;
        if (vxs_file_read(argv[i], &bytes, &length, &err)) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        /* exactly as many bytes as there are, so that the sanitizer sees the first one too many */
        uint8_t *exact = malloc(length ? length : 1);
        HOLDS(exact);
        memcpy(exact, bytes, length);
        read(exact, length);
        free(exact);
        free(bytes);
    }
    printf("replayed %d files: %s\n", argc - 2, argv[1]);
    return 0;
}
