/* simulate.h - simulated cohorts of images; private to the simulate room.
 *
 * Data moves one way: a base gives images and a mask (given.c, anatomy.c, grain.c), spheres.c finds
 * places in it, a plan changes the images or reads them and makes the target (simulate_skfs.c,
 * simulate_spheres.c), and simulate_write.c says what was done; simulate_images.c has the order.
 * Every random number is a function of the seed, a stream and a place: a subject, a voxel of the
 * grid, a control point. */
#ifndef VXS_SIMULATE_SIMULATE_H
#define VXS_SIMULATE_SIMULATE_H

#include "cohort/build.h"
#include "voxsift/internal/simulate.h"

enum {
    STREAM_WARP, /* three of them, one an axis */
    STREAM_BIAS = STREAM_WARP + 3,
    STREAM_VOXELS,
    STREAM_WHICH_IMAGES,
    STREAM_PLACES,
    STREAM_WHO,
    STREAM_CHANGE,
    STREAM_GROUPS,
    STREAM_SCORE
};

typedef struct vxs_sim vxs_sim;

/* Where images come from. */
typedef struct {
    /* Grid, subjects and mask: all of them in sim->build. */
    vxs_status (*prepare)(vxs_sim *sim, vxs_error *err);
    /* Values of subject i at voxels of the grid, which ascend. Any thread may ask. */
    vxs_status (*fill)(const vxs_sim *sim, size_t i, const size_t *voxels, size_t count,
                       float *values, vxs_error *err);
    void (*release)(vxs_sim *sim);
} vxs_base;
extern const vxs_base vxs_base_given, vxs_base_anatomy, vxs_base_grain;

/* What becomes of them. */
struct vxs_plan {
    const vxs_base *made; /* the base, when no images are given */
    double sigma;         /* of images that are made; 0: as they come */
    /* Changes sim->values and makes the target. */
    vxs_status (*act)(vxs_sim *sim, vxs_error *err);
    /* Columns of participants.tsv behind the id, and of truth.tsv behind the place; i or m
     * SIZE_MAX: the header. */
    void (*write_person)(const vxs_sim *sim, vxs_tsv_writer *w, size_t i);
    void (*write_member)(const vxs_sim *sim, vxs_tsv_writer *w, size_t m);
    double (*weight)(const vxs_sim *sim, size_t m); /* in truth.nii.gz; NULL: 1 */
    const char *target;                             /* column; NULL: as settings say */
    /* for act */
    double share;                          /* of the subjects that are perturbed */
    double (*relation)(const double v[4]); /* NULL: all that are perturbed are positive */
    bool shuffled;                         /* groups of voxels */
};
extern const struct vxs_plan vxs_plan_linear, vxs_plan_additive, vxs_plan_nonadditive,
    vxs_plan_spheres;

struct vxs_sim {
    const vxs_context *context;
    const vxs_image_simulation *settings;
    const vxs_simulation *model;
    const vxs_base *base;
    vxs_build build;
    vxs_cohort_settings how;
    size_t n, p;
    float *values;  /* n x p */
    double *sigmas; /* n: standard deviation inside the mask, before anything is done */
    double factor;  /* of all values */
    vxs_volume underlay;
    struct vxs_fields *fields; /* of anatomy.c */
    double unit;               /* of grain.c: what makes its standard deviation 1 */
    size_t spheres, sphere;    /* how many, and voxels of each */
    size_t *centers;           /* voxels of the grid */
    size_t *members;           /* features, ascending in each sphere */
    bool *perturbed, *positive;
    double *score;
    size_t *order; /* of a sphere's members, as they are dealt to the groups */
    vxs_simulation_summary *summary;
};

vxs_random vxs_sim_stream(const vxs_sim *sim, int stream);
/* One subject after the other, by all threads; the first error ends it. */
typedef vxs_status vxs_sim_work(vxs_sim *sim, size_t i, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_sim_each(vxs_sim *sim, const char *task, vxs_sim_work *work,
                                       vxs_error *err);

/* lobe.c: the average brain on a grid, and the lobe in it: what is not in it leaves the mask. */
VXS_MUST_CHECK vxs_status vxs_sim_read_underlay(vxs_sim *sim, const vxs_grid *grid, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_sim_cut_lobe(vxs_sim *sim, vxs_error *err);
/* Grid, subjects and mask of images that are made. */
VXS_MUST_CHECK vxs_status vxs_sim_prepare_made(vxs_sim *sim, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_sim_list_subjects(vxs_sim *sim, vxs_error *err);
/* box.c: the same for a box of voxels. */
VXS_MUST_CHECK vxs_status vxs_sim_prepare_box(vxs_sim *sim, vxs_error *err);
/* grain.c: how many voxels of that size smoothing reaches. */
size_t vxs_sim_reach(const vxs_sim *sim, double size);
/* Lists what is in the mask. */
VXS_MUST_CHECK vxs_status vxs_sim_list_mask(vxs_sim *sim, vxs_error *err);

/* spheres.c: random spheres that lie wholly in the mask and apart from each other. */
VXS_MUST_CHECK vxs_status vxs_sim_place_spheres(vxs_sim *sim, vxs_error *err);

/* simulate_images.c */
VXS_MUST_CHECK vxs_status vxs_simulate_images(const vxs_context *context,
                                              const vxs_simulation *model,
                                              const vxs_image_simulation *settings,
                                              const char *directory, bool replace,
                                              vxs_simulation_summary *summary, vxs_error *err);
/* simulate_write.c: all files but the features and the images. */
VXS_MUST_CHECK vxs_status vxs_sim_describe(vxs_sim *sim, vxs_output *output, vxs_error *err);
/* The images. */
VXS_MUST_CHECK vxs_status vxs_sim_write_images(vxs_sim *sim, vxs_output *output, vxs_error *err);

#endif
