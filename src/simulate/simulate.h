/* simulate.h - simulated cohorts of images; private to the simulate room.
 *
 * Data moves one way: a base provides images and a mask (given.c, anatomy.c, grain.c), spheres.c
 * places spheres in the mask, a plan changes the images or computes the target from them
 * (simulate_skfs.c, simulate_spheres.c), simulate_write.c writes the description; simulate_images.c
 * calls these in order. Every random number is a function of the seed, a stream and a position: a
 * subject, a voxel of the grid, a control point. */
#ifndef VXS_SIMULATE_SIMULATE_H
#define VXS_SIMULATE_SIMULATE_H

#include "cohort/build.h"
#include "voxsift/internal/simulate.h"

enum {
    STREAM_WARP, /* three streams, one per axis */
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

/* The source of images: given, anatomical or noise. */
typedef struct {
    /* Fills sim->build: grid, subjects and mask. */
    vxs_status (*prepare)(vxs_sim *sim, vxs_error *err);
    /* Values of subject i at `count` voxels of the grid, ascending; thread-safe. */
    vxs_status (*fill)(const vxs_sim *sim, size_t i, const size_t *voxels, size_t count,
                       float *values, vxs_error *err);
    void (*release)(vxs_sim *sim);
} vxs_base;
extern const vxs_base vxs_base_given, vxs_base_anatomy, vxs_base_grain;

/* The model: a change of the images, or a target computed from them. */
struct vxs_plan {
    const vxs_base *made; /* base if the user gives no images */
    double sigma;         /* target sigma of simulated images; 0: no scaling */
    /* Places what changes: sim->spheres, sphere, centers and members; NULL: spheres.c. */
    vxs_status (*place)(vxs_sim *sim, vxs_error *err);
    /* Changes sim->values and makes the target. */
    vxs_status (*act)(vxs_sim *sim, vxs_error *err);
    /* Write columns of participants.tsv after the id, and of truth.tsv after the position; i or m =
     * SIZE_MAX writes the header. */
    void (*write_person)(const vxs_sim *sim, vxs_tsv_writer *w, size_t i);
    void (*write_member)(const vxs_sim *sim, vxs_tsv_writer *w, size_t m);
    double (*weight)(const vxs_sim *sim, size_t m); /* value in truth.nii.gz; NULL: 1 */
    const char *target;                             /* target column; NULL: by the settings */
    /* parameters of `act` */
    double share;                          /* share of perturbed subjects */
    double (*relation)(const double v[4]); /* NULL: all perturbed subjects are positive */
    bool shuffled;                         /* voxels are assigned to groups at random */
};
extern const struct vxs_plan vxs_plan_linear, vxs_plan_additive, vxs_plan_nonadditive,
    vxs_plan_spheres, vxs_plan_bags;

struct vxs_sim {
    const vxs_context *context;
    const vxs_image_simulation *settings;
    const vxs_simulation *model;
    const vxs_base *base;
    vxs_build build;
    vxs_cohort_settings how;
    size_t n, p;
    float *values;  /* n x p, row-major: features of each subject */
    double *sigmas; /* n: standard deviation inside the mask, before any change */
    double factor;  /* factor applied to all values */
    vxs_volume underlay;
    struct vxs_fields *fields; /* anatomy.c: spline fields */
    double unit;               /* grain.c: factor to unit standard deviation */
    size_t spheres, sphere;    /* number of spheres, and of voxels per sphere */
    size_t *centers;           /* grid indices of the centers */
    size_t *members;           /* spheres x sphere: feature indices, ascending within each sphere */
    bool *perturbed, *positive;
    double *score;
    size_t *order; /* permutation of a sphere's voxels for assigning them to groups */
    vxs_simulation_summary *summary;
};

vxs_random vxs_sim_stream(const vxs_sim *sim, int stream);
/* Calls `work` for every subject, in parallel; the first error ends the loop. */
typedef vxs_status vxs_sim_work(vxs_sim *sim, size_t i, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_sim_each(vxs_sim *sim, const char *task, vxs_sim_work *work,
                                       vxs_error *err);

/* lobe.c: reads the average brain on a grid; restricts the mask to the lobe. */
VXS_MUST_CHECK vxs_status vxs_sim_read_underlay(vxs_sim *sim, const vxs_grid *grid, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_sim_cut_lobe(vxs_sim *sim, vxs_error *err);
/* Make grid, subjects and mask of simulated images. */
VXS_MUST_CHECK vxs_status vxs_sim_prepare_made(vxs_sim *sim, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_sim_list_subjects(vxs_sim *sim, vxs_error *err);
/* box.c: the same for a box of voxels. */
VXS_MUST_CHECK vxs_status vxs_sim_prepare_box(vxs_sim *sim, vxs_error *err);
/* grain.c: reach of the smoothing kernel in voxels of the given size (mm). */
size_t vxs_sim_reach(const vxs_sim *sim, double size);
/* Lists the voxels of the mask. */
VXS_MUST_CHECK vxs_status vxs_sim_list_mask(vxs_sim *sim, vxs_error *err);

/* spheres.c: places disjoint random spheres inside the mask. */
VXS_MUST_CHECK vxs_status vxs_sim_place_spheres(vxs_sim *sim, vxs_error *err);

/* simulate_images.c: makes the cohort. */
VXS_MUST_CHECK vxs_status vxs_simulate_images(const vxs_context *context,
                                              const vxs_simulation *model,
                                              const vxs_image_simulation *settings,
                                              const char *directory, bool replace,
                                              vxs_simulation_summary *summary, vxs_error *err);
/* simulate_write.c: writes all files but features and images. */
VXS_MUST_CHECK vxs_status vxs_sim_describe(vxs_sim *sim, vxs_output *output, vxs_error *err);
/* Writes the images. */
VXS_MUST_CHECK vxs_status vxs_sim_write_images(vxs_sim *sim, vxs_output *output, vxs_error *err);

#endif
