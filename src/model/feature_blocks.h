/* feature_blocks.h - parameters of feature maps for new subjects; private to the model room. */
#ifndef VXS_MODEL_FEATURE_BLOCKS_H
#define VXS_MODEL_FEATURE_BLOCKS_H

#include "model/encoder.h"
#include "model/model.h"

/* Parameters of a nonlinear feature map, for each feature of the selected blocks: its
 * standardization scale x + coefficients'c and its range. */
typedef struct {
    vxs_feature_map map;
    size_t p, count, covariate_count;
    double *low, *high, *scale, *covariate_coefficients; /* count; count x covariate_count */
} vxs_map_parameters;
VXS_MUST_CHECK vxs_map_parameters *vxs_map_parameters_new(const vxs_feature_map *map, size_t p,
                                                          size_t count, size_t covariate_count,
                                                          vxs_error *err);
void vxs_map_parameters_free(void *inputs);

/* What a weight of a block's column is multiplied by to be the weight of its standardized feature:
 * columns of groups are divided by a power of the group's size and by penalty factors. */
double vxs_block_column_factor(const vxs_task *task, size_t block, size_t column);

/* block_files.c */
extern const vxs_model_file vxs_block_files[];
VXS_MUST_CHECK vxs_status vxs_blocks_read(vxs_model *model, const char *folder, vxs_error *err);

/* dual_outputs.c: outputs.npy. */
VXS_MUST_CHECK vxs_status vxs_outputs_write(const vxs_model *model, const vxs_task *task,
                                            FILE *stream, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_outputs_read(vxs_model *model, const char *path, vxs_error *err);

#endif
