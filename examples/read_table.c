/* read_table.c - a program of your own on the library: the mean of a column.
 *
 * cc -std=c11 read_table.c $(pkg-config --cflags --libs voxsift) -o read_table */
#include <math.h>
#include <stdio.h>
#include <voxsift.h>

int main(int argc, char **argv)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    vxs_column_summary summary;
    size_t column = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: read_table TABLE COLUMN\n");
        return VXS_MISUSE;
    }
    vxs_status status = vxs_table_read(argv[1], &table, &err);
    if (!status)
        status = vxs_table_find(table, argv[2], &column, &err);
    if (!status)
        status = vxs_table_summarize(table, column, &summary, &err);
    if (!status)
        printf("%s: %zu values, mean %.2f\n", argv[2], vxs_table_rows(table) - summary.missing,
               summary.mean);
    else
        fprintf(stderr, "read_table: %s\n", err.message);
    vxs_table_free(table);
    return (int)status;
}
