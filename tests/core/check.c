/* check.c - helpers of the unit tests. */
#include "tests/core/check.h"

#include <sys/stat.h>

const char *work_path(char buffer[512], const char *name)
{
    const char *top = getenv("VXS_TEST_DIR");
    cr_assert(top, "VXS_TEST_DIR is not set; run 'make unit'");
    mkdir(top, 0777);
    snprintf(buffer, 512, "%s/%ld-%s", top, (long)getpid(), name);
    return buffer;
}

void write_bytes(const char *path, const void *bytes, size_t length)
{
    FILE *stream = fopen(path, "wb");
    cr_assert(stream, "cannot write %s", path);
    cr_assert(fwrite(bytes, 1, length, stream) == length);
    cr_assert(fclose(stream) == 0);
}

char *printed(void (*print)(FILE *stream, void *data), void *data)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    cr_assert(stream);
    print(stream, data);
    cr_assert(fclose(stream) == 0);
    return text;
}
