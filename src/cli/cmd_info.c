/* cmd_info.c - voxsift info: what is in a file or directory, in words. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEVELS_SHOWN 12 /* more different values than these are counted, not listed */

static const vxs_operand operands[] = {
    { .name = "FILE", .help = "a table (TSV or CSV), an array (NPY) or a cohort directory" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift info participants.tsv",
      "see what every column holds and how much of it is missing" },
    { "voxsift info sim/features.npy --json",
      "have a script read shape, range and non-finite counts" },
    { NULL, NULL },
};

/* ---- Tables ---------------------------------------------------------------------------------- */

typedef struct {
    vxs_column_summary summary;
    vxs_level *levels; /* NULL when they are numbers or too many */
} column_facts;

static vxs_status look_at_column(const vxs_table *table, size_t j, column_facts *facts,
                                 vxs_error *err)
{
    size_t count = 0;
    vxs_status status = vxs_table_summarise(table, j, &facts->summary, err);
    bool few = facts->summary.distinct <= LEVELS_SHOWN;
    if (!status && !facts->summary.numeric && few)
        status = vxs_table_levels(table, j, &facts->levels, &count, err);
    return status;
}

static void print_column(FILE *out, const char *name, const column_facts *facts)
{
    const vxs_column_summary *s = &facts->summary;
    fprintf(out, "  %-20s %-7s %8zu  ", name, s->numeric ? "number" : "text", s->missing);
    if (s->numeric)
        fprintf(out, "%.6g to %.6g, mean %.4g, sd %.4g", s->min, s->max, s->mean, s->sd);
    else if (s->distinct == 0)
        fputs("nothing", out);
    else if (!facts->levels)
        fprintf(out, "%zu different values", s->distinct);
    for (size_t i = 0; facts->levels && i < s->distinct; i++)
        fprintf(out, "%s%s %zu", i ? ", " : "", facts->levels[i].text, facts->levels[i].count);
    fputc('\n', out);
}

static void print_column_json(vxs_json_writer *writer, const char *name, const column_facts *facts)
{
    const vxs_column_summary *s = &facts->summary;
    vxs_json_open_object(writer, NULL);
    vxs_json_text(writer, "name", name);
    vxs_json_text(writer, "kind", s->numeric ? "number" : "text");
    vxs_json_whole(writer, "missing", (int64_t)s->missing);
    vxs_json_whole(writer, "distinct", (int64_t)s->distinct);
    vxs_json_real(writer, "min", s->min);
    vxs_json_real(writer, "max", s->max);
    vxs_json_real(writer, "mean", s->mean);
    vxs_json_real(writer, "sd", s->sd);
    if (facts->levels) {
        vxs_json_open_array(writer, "values");
        for (size_t i = 0; i < s->distinct; i++) {
            vxs_json_open_object(writer, NULL);
            vxs_json_text(writer, "value", facts->levels[i].text);
            vxs_json_whole(writer, "count", (int64_t)facts->levels[i].count);
            vxs_json_close_object(writer);
        }
        vxs_json_close_array(writer);
    }
    vxs_json_close_object(writer);
}

/* Two subjects of one name are the beginning of every wrong join. */
static void warn_of_twins(const vxs_call *call, const vxs_table *table, size_t j,
                          const vxs_column_summary *s)
{
    size_t present = vxs_table_rows(table) - s->missing;
    if (strcmp(vxs_table_header(table, j), "participant_id") != 0)
        return;
    if (s->distinct < present)
        vxs_log(call->context, VXS_LOG_WARNING,
                "'%s': %zu rows share a participant_id with another row", call->operands[0],
                present - s->distinct);
    if (s->missing > 0)
        vxs_log(call->context, VXS_LOG_WARNING, "'%s': %zu rows have no participant_id",
                call->operands[0], s->missing);
}

static vxs_status print_columns(const vxs_call *call, const vxs_table *table,
                                vxs_json_writer *writer, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t j = 0; j < vxs_table_columns(table) && !status; j++) {
        column_facts facts = { .levels = NULL };
        status = look_at_column(table, j, &facts, err);
        if (!status && writer)
            print_column_json(writer, vxs_table_header(table, j), &facts);
        else if (!status)
            print_column(call->out, vxs_table_header(table, j), &facts);
        if (!status)
            warn_of_twins(call, table, j, &facts.summary);
        free(facts.levels);
    }
    return status;
}

static vxs_status tell_table(const vxs_call *call, vxs_error *err)
{
    const char *path = call->operands[0];
    vxs_table *table = NULL;
    vxs_json_writer writer;
    vxs_status status = vxs_table_read(path, &table, err);
    if (status)
        return status;
    if (call->shared->json) {
        vxs_json_init(&writer, call->out);
        vxs_json_open_object(&writer, NULL);
        vxs_json_text(&writer, "kind", "table");
        vxs_json_whole(&writer, "rows", (int64_t)vxs_table_rows(table));
        vxs_json_open_array(&writer, "columns");
        status = print_columns(call, table, &writer, err);
        vxs_json_close_array(&writer);
        vxs_json_close_object(&writer);
    } else {
        fprintf(call->out, "'%s' is a table of %zu rows and %zu columns.\n\n  %-20s %-7s %8s\n",
                path, vxs_table_rows(table), vxs_table_columns(table), "column", "kind", "missing");
        status = print_columns(call, table, NULL, err);
    }
    vxs_table_free(table);
    return status;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct {
    double min, max, sum; /* of the finite items */
    size_t nonfinite;
} array_facts;

static array_facts look_at_array(const vxs_npy *npy)
{
    array_facts facts = { NAN, NAN, 0, 0 };
    double lost = 0; /* compensated, so that the sum of millions of items is right */
    for (size_t i = 0; i < npy->count; i++) {
        double value = vxs_npy_item(npy, i);
        if (!isfinite(value)) {
            facts.nonfinite++;
            continue;
        }
        facts.min = value < facts.min || isnan(facts.min) ? value : facts.min;
        facts.max = value > facts.max || isnan(facts.max) ? value : facts.max;
        double with = facts.sum + (value - lost);
        lost = (with - facts.sum) - (value - lost);
        facts.sum = with;
    }
    return facts;
}

static const char *kind_word(char kind)
{
    return kind == 'f' ? "float" : kind == 'i' ? "int" : kind == 'u' ? "uint" : "bool";
}

static void print_array_json(FILE *out, const vxs_npy *npy, const char *type,
                             const array_facts *facts)
{
    vxs_json_writer writer;
    vxs_json_init(&writer, out);
    vxs_json_open_object(&writer, NULL);
    vxs_json_text(&writer, "kind", "array");
    vxs_json_open_array(&writer, "shape");
    for (int d = 0; d < npy->ndim; d++)
        vxs_json_whole(&writer, NULL, (int64_t)npy->shape[d]);
    vxs_json_close_array(&writer);
    vxs_json_text(&writer, "datatype", type);
    vxs_json_text(&writer, "order", npy->fortran ? "Fortran" : "C");
    vxs_json_bool(&writer, "swapped", npy->swapped);
    vxs_json_real(&writer, "min", facts->min);
    vxs_json_real(&writer, "max", facts->max);
    vxs_json_real(&writer, "sum", facts->sum);
    vxs_json_whole(&writer, "nonfinite", (int64_t)facts->nonfinite);
    vxs_json_close_object(&writer);
}

static void print_array(const vxs_call *call, const vxs_npy *npy, const char *type,
                        const array_facts *facts)
{
    fprintf(call->out, "'%s' is an array of %s, ", call->operands[0], type);
    for (int d = 0; d < npy->ndim; d++)
        fprintf(call->out, "%s%zu", d ? " x " : "", npy->shape[d]);
    fprintf(call->out, "%s, in %s order%s.\n", npy->ndim ? "" : "one number",
            npy->fortran ? "Fortran" : "C", npy->swapped ? ", bytes swapped" : "");
    if (npy->count > facts->nonfinite)
        fprintf(call->out, "  from %.9g to %.9g, sum %.9g\n", facts->min, facts->max, facts->sum);
    fprintf(call->out, "  NaN or infinite: %zu of %zu\n", facts->nonfinite, npy->count);
}

static vxs_status tell_array(const vxs_call *call, vxs_error *err)
{
    vxs_npy npy;
    char type[16] = "bool";
    vxs_status status = vxs_npy_open(call->operands[0], &npy, err);
    if (status)
        return status;
    if (npy.kind != 'b')
        snprintf(type, sizeof(type), "%s%d", kind_word(npy.kind), 8 * npy.item_size);
    array_facts facts = look_at_array(&npy);
    if (call->shared->json)
        print_array_json(call->out, &npy, type, &facts);
    else
        print_array(call, &npy, type, &facts);
    vxs_npy_release(&npy);
    return VXS_OK;
}

/* ---- Cohorts --------------------------------------------------------------------------------- */

static const char *text_of(const vxs_json *value)
{
    return value && value->kind == VXS_JSON_TEXT ? value->text : NULL;
}

static vxs_status show_cohort(const vxs_call *call, const char *file, const vxs_json *about,
                              vxs_error *err)
{
    const vxs_json *subjects = vxs_json_get(about, "subjects");
    const vxs_json *features = vxs_json_get(about, "features");
    const char *format = text_of(vxs_json_get(about, "format"));
    const char *target = text_of(vxs_json_get(about, "target"));
    if (!format || strcmp(format, "voxsift cohort") != 0 || !target || !subjects || !features ||
        subjects->kind != VXS_JSON_NUMBER || features->kind != VXS_JSON_NUMBER)
        return vxs_fail(err, VXS_BAD_DATA, "'%s' does not describe a cohort", file);
    if (call->shared->json) {
        vxs_json_writer writer;
        vxs_json_init(&writer, call->out);
        vxs_json_open_object(&writer, NULL);
        vxs_json_text(&writer, "kind", "cohort");
        vxs_json_real(&writer, "subjects", subjects->number);
        vxs_json_real(&writer, "features", features->number);
        vxs_json_text(&writer, "target", target);
        vxs_json_text(&writer, "simulation", text_of(vxs_json_get(about, "simulation")));
        vxs_json_close_object(&writer);
    } else {
        fprintf(call->out,
                "'%s' is a cohort of %.0f subjects with %.0f features each.\n"
                "  to be predicted: %s (participants.tsv)\n",
                call->operands[0], subjects->number, features->number, target);
        if (vxs_json_get(about, "simulation"))
            fputs("  simulated: the truth is in truth.tsv\n", call->out);
    }
    return VXS_OK;
}

static vxs_status tell_cohort(const vxs_call *call, vxs_error *err)
{
    vxs_json *about = NULL;
    char *file = vxs_format(err, "%s/%s", call->operands[0], VXS_COHORT_FILE);
    if (!file)
        return VXS_FAILED;
    vxs_status status = vxs_json_read(file, &about, err);
    if (!status)
        status = show_cohort(call, file, about, err);
    vxs_json_free(about);
    free(file);
    return status;
}

static bool is_array(const char *path)
{
    char magic[6] = "";
    FILE *stream = fopen(path, "rb");
    bool array = stream && fread(magic, 1, 6, stream) == 6 && memcmp(magic, "\x93NUMPY", 6) == 0;
    if (stream)
        fclose(stream);
    return array;
}

/* By what it is, not by its name; pipes can be read once only, so they are tables. */
static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const char *path = call->operands[0];
    struct stat about;
    if (stat(path, &about) != 0)
        return tell_table(call, err); /* which says why not */
    if (S_ISDIR(about.st_mode))
        return tell_cohort(call, err);
    return S_ISREG(about.st_mode) && is_array(path) ? tell_array(call, err) : tell_table(call, err);
}

const vxs_command vxs_cmd_info = {
    .name = "info",
    .heading = "Look at data",
    .summary = "tell what is in a table, an array or a cohort",
    .details =
        "For a table: every column, whether it holds numbers or text, how many cells are missing, "
        "and its range or its classes with their counts. Tables may be tab, comma or semicolon "
        "separated, with a byte order mark, CRLF, quotes or blanks around cells; n/a, NA, NaN, "
        "null, a point and empty cells count as missing.\n\n"
        "For an array: type, shape, range, sum and the number of items that are NaN or infinite. "
        "For a cohort directory: subjects, features and target.",
    .operands = operands,
    .takes = VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
