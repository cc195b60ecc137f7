#include "design/units.h"

vxs_status vxs_units_pairs_new(const vxs_context *context, vxs_design *design, const vxs_map *map,
                               size_t limit, vxs_units **units, vxs_error *err)
{
    (void)context, (void)design, (void)map, (void)limit, (void)units;
    return vxs_fail(err, VXS_MISUSE, "pairs are still to come");
}
