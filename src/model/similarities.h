/* similarities.h - bags of instances in the model room: their similarities with instances as
 * columns, and the instances that a model keeps; private to the model room. */
#ifndef VXS_MODEL_SIMILARITIES_H
#define VXS_MODEL_SIMILARITIES_H

#include "model/encoder.h"

/* similarities.c: refuses what does not go with bags, and bags without --bags. */
VXS_MUST_CHECK vxs_status vxs_task_check_bags(const vxs_task *task, vxs_error *err);
/* The design of a task of bags; the first of a cohort computes distances, which its parts share. */
VXS_MUST_CHECK vxs_status vxs_task_make_similarities(const vxs_context *context, vxs_task *task,
                                                     vxs_error *err);
/* Another width is another design, of the same distances. Other tasks have no width. */
VXS_MUST_CHECK vxs_status vxs_task_set_width(vxs_task *task, const vxs_bag_settings *settings,
                                             vxs_error *err);
void vxs_task_release_similarities(vxs_task *task);
/* What the design room reads of a cohort of bags. */
vxs_instances vxs_cohort_instances(const vxs_cohort *cohort);

/* bag_encoder.c: instances with a weight in an output, in the order of its weights. */
typedef struct {
    size_t count, width;
    float *values; /* count x width */
    double *at;    /* count x 3, or NULL */
    double near, sigma;
} vxs_kept_instances;
vxs_kept_instances *vxs_kept_instances_new(size_t count, size_t width, bool placed, vxs_error *err);
void vxs_kept_instances_free(void *kept);
/* The kept instances as others of vxs_instance_distances. */
vxs_instances vxs_kept_view(const vxs_kept_instances *kept);

/* bag_files.c */
/* Writes maps of the grid as one image, whose window reaches to the largest value. */
vxs_status vxs_write_volumes(const vxs_grid *grid, const double *values, size_t volumes,
                             const char *intent, const char *name, FILE *stream, vxs_error *err);
extern const vxs_model_file vxs_bag_files[];
vxs_status vxs_bag_read(vxs_model *model, const char *folder, vxs_error *err);
/* Refuses a cohort whose instances have other features than the model's. */
VXS_MUST_CHECK vxs_status vxs_model_same_instances(const vxs_model *model, const vxs_cohort *cohort,
                                                   vxs_error *err);

#endif
