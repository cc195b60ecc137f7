/* serialize.c - units of a run as sequences of numbers. */
#include "evaluate/chunks/chunk.h"

#include <math.h>

static void put(vxs_serializer *p, double value)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 1024;
        double *longer = vxs_resize(p->numbers, room, sizeof(*longer), p->err);
        if (!longer) {
            p->status = VXS_FAILED;
            return;
        }
        p->numbers = longer;
        p->room = room;
    }
    p->numbers[p->count++] = value;
}

static double take(vxs_serializer *p)
{
    if (p->at < p->count)
        return p->from[p->at++];
    p->status = vxs_fail(p->err, VXS_BAD_DATA, "'%s' ends too early", p->name);
    return 0;
}

void vxs_serialize_reals(vxs_serializer *p, double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!p->status && !p->from)
            put(p, values[k]);
        else if (p->from)
            values[k] = p->status ? 0 : take(p);
    }
}

void vxs_serialize_size(vxs_serializer *p, size_t *value, size_t most)
{
    double number = (double)*value;
    vxs_serialize_reals(p, &number, 1);
    if (!p->from)
        return;
    if (!p->status && !(number >= 0 && number <= (double)most && number == floor(number)))
        p->status = vxs_fail(p->err, VXS_BAD_DATA,
                             "'%s' has at place %zu what is no whole number up to %zu", p->name,
                             p->at - 1, most);
    *value = p->status ? 0 : (size_t)number;
}

void vxs_serialize_flag(vxs_serializer *p, bool *value)
{
    size_t number = *value;
    vxs_serialize_size(p, &number, 1);
    *value = number != 0;
}

void *vxs_serialize_room(vxs_serializer *p, size_t count, size_t size)
{
    void *memory = p->status ? NULL : vxs_alloc(count, size, p->err);
    if (!memory && !p->status)
        p->status = VXS_FAILED;
    return memory;
}

vxs_status vxs_serialize_end(vxs_serializer *p)
{
    if (!p->status && p->at != p->count)
        p->status = vxs_fail(p->err, VXS_BAD_DATA, "'%s' has %zu numbers too many", p->name,
                             p->count - p->at);
    return p->status;
}
