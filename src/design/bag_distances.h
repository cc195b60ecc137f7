/* bag_distances.h - distances of instances to bags; private to the design room. */
#ifndef VXS_DESIGN_BAG_DISTANCES_H
#define VXS_DESIGN_BAG_DISTANCES_H

#include "design/storage.h"
#include "voxsift/internal/design.h"

/* Where nothing is compared: similarities are 0. */
#define VXS_TOO_FAR 1e18F

struct vxs_bag_distances {
    size_t bags, count;
    size_t *bag;         /* of each instance */
    vxs_storage storage; /* bags x count: distances, column by column */
    float *left_out;     /* count: to the other instances of the own bag */
};

#endif
