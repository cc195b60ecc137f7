#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <sys/stat.h>
#include <unistd.h>

Test(file, comes_whole_with_a_zero_behind)
{
    /* sizes around the first read, so that growing is exercised */
    static const size_t sizes[] = { 0, 1, 65534, 65535, 65536, 200001 };
    vxs_error err = VXS_ERROR_INIT;
    char path[512];
    work_path(path, "file");
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        char *bytes = malloc(sizes[k] + 1), *back = NULL;
        size_t length = 0;
        for (size_t i = 0; i < sizes[k]; i++)
            bytes[i] = (char)(i * 7 + i / 251);
        write_bytes(path, bytes, sizes[k]);
        WORKS(vxs_file_read(path, &back, &length, &err), err);
        cr_assert(length == sizes[k] && memcmp(bytes, back, length) == 0 && back[length] == 0);
        free(back);
        free(bytes);
    }
    unlink(path);
}

/* Through a pipe the size is not known, so the buffer grows. */
Test(file, a_pipe_is_read_to_its_end)
{
    static const char *const sizes[] = { "0", "1", "65534", "65535", "65536", "131070", "400000" };
    vxs_error err = VXS_ERROR_INIT;
    char path[512], command[1300];
    work_path(path, "pipe");
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        char *bytes = NULL;
        size_t length = 0;
        snprintf(command, sizeof(command), "mkfifo '%s' && (head -c %s /dev/zero > '%s' &)", path,
                 sizes[k], path);
        cr_assert(system(command) == 0);
        WORKS(vxs_file_read(path, &bytes, &length, &err), err);
        cr_assert(length == strtoul(sizes[k], NULL, 10) && bytes[length] == 0);
        free(bytes);
        unlink(path);
    }
}

Test(file, what_is_not_there_is_missing)
{
    vxs_error err = VXS_ERROR_INIT;
    char *bytes = NULL;
    size_t length = 0;
    REFUSES(vxs_file_read("/nowhere/x", &bytes, &length, &err), err, VXS_MISSING, "'/nowhere/x'");
    REFUSES(vxs_file_read("/tmp", &bytes, &length, &err), err, VXS_MISSING, "it is a directory");
    REFUSES(vxs_file_read("", &bytes, &length, &err), err, VXS_MISSING, "''");
    REFUSES(vxs_file_read("/dev/zero", &bytes, &length, &err), err, VXS_MISSING, "is a device");
}

/* Whoever waits for the writer of a pipe waits for ever. */
Test(file, a_directory_with_a_pipe_is_no_result, .timeout = 20)
{
    vxs_error err = VXS_ERROR_INIT;
    char path[512], pipe[600], *ends = NULL;
    vxs_json *root = NULL;
    vxs_npy array;
    work_path(path, "with-pipe");
    cr_assert(mkdir(path, 0700) == 0);
    snprintf(pipe, sizeof(pipe), "%s/weights.npy", path);
    cr_assert(mkfifo(pipe, 0600) == 0);
    REFUSES(vxs_npy_open(pipe, &array, &err), err, VXS_BAD_DATA, "it is not a regular file");
    ends = strcat(path, "/model.json");
    write_bytes(ends, "{}", 2);
    REFUSES(vxs_json_read(path, &root, &err), err, VXS_BAD_DATA, "/weights.npy' is a pipe, not");
    unlink(pipe);
    cr_assert(symlink("/dev/zero", pipe) == 0);
    REFUSES(vxs_json_read(path, &root, &err), err, VXS_BAD_DATA, "is a device, not a file");
    unlink(pipe);
    cr_assert(symlink("/nowhere", pipe) == 0);
    WORKS(vxs_json_read(path, &root, &err), err);
    vxs_json_free(root);
    unlink(pipe);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

static vxs_status read_long_file(vxs_error *err)
{
    char path[512], *bytes = NULL;
    size_t length = 0;
    vxs_status status = vxs_file_read(work_path(path, "long"), &bytes, &length, err);
    free(bytes);
    return status;
}

Test(file, memory_may_run_out_on_the_way)
{
    char path[512];
    char *bytes = calloc(150000, 1);
    write_bytes(work_path(path, "long"), bytes, 150000);
    free(bytes);
    cr_assert(fail_each_request(read_long_file) == 1, "one buffer of the right size");
    unlink(path);
}

Test(file, a_full_disk_shows_at_the_end)
{
    vxs_error err = VXS_ERROR_INIT;
    for (size_t size = 1; size < 100000; size *= 10) {
        FILE *stream = fopen("/dev/full", "wb");
        cr_assert(stream);
        for (size_t i = 0; i < size; i++)
            fputc('x', stream);
        REFUSES(vxs_file_close(stream, "out.txt", &err), err, VXS_CANNOT_WRITE,
                "cannot write 'out.txt': No space left on device");
    }
}

/* FIPS 180-4's own examples. */
Test(hash, known_answers)
{
    char text[VXS_HASH_TEXT];
    vxs_sha256("abc", 3, NULL, 0, text);
    cr_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    vxs_sha256("ab", 2, "c", 1, text);
    cr_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    vxs_sha256("", 0, NULL, 0, text);
    cr_assert_str_eq(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
