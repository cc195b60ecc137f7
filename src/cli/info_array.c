/* info_array.c - type, shape and range of an NPY file. */
#include "cli/info.h"

#include <math.h>

typedef struct {
    double min, max, sum; /* range and sum of the finite items */
    size_t nonfinite;
} array_facts;

/* Scans the array; stops early after an interrupt, which the caller detects. */
static array_facts scan_array(const vxs_call *call, const vxs_npy *npy)
{
    array_facts facts = { NAN, NAN, 0, 0 };
    double lost = 0; /* compensated summation: exact to rounding for millions of items */
    for (size_t i = 0; i < npy->count; i++) {
        double value = vxs_npy_item(npy, i);
        if (i % 65536 == 0 && vxs_check_interrupted(call->context, NULL))
            break;
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

static void print_array_json(const vxs_call *call, const vxs_npy *npy, const char *type,
                             const array_facts *facts)
{
    vxs_json_writer writer;
    vxs_json_init(&writer, call->out);
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
    vxs_close_json(call, &writer);
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
        fprintf(call->out, "  from %.9g to %.9g", facts->min, facts->max);
    if (npy->count > facts->nonfinite && isfinite(facts->sum))
        fprintf(call->out, ", sum %.9g", facts->sum);
    if (npy->count > facts->nonfinite)
        fputc('\n', call->out);
    fprintf(call->out, "  NaN or infinite: %zu of %zu\n", facts->nonfinite, npy->count);
}

vxs_status vxs_info_array(const vxs_call *call, vxs_error *err)
{
    vxs_npy npy;
    char type[16] = "bool";
    vxs_status status = vxs_npy_open(call->operands[0], &npy, err);
    if (status)
        return status;
    if (npy.kind != 'b')
        snprintf(type, sizeof(type), "%s%d", kind_word(npy.kind), 8 * npy.item_size);
    array_facts facts = scan_array(call, &npy);
    status = vxs_check_interrupted(call->context, err);
    if (!status && call->shared->json)
        print_array_json(call, &npy, type, &facts);
    else if (!status)
        print_array(call, &npy, type, &facts);
    vxs_npy_release(&npy);
    return status;
}
