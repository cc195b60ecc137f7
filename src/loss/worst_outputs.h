/* worst_outputs.h - the worst output of each measure; private to the loss room. */
#ifndef VXS_LOSS_WORST_OUTPUTS_H
#define VXS_LOSS_WORST_OUTPUTS_H

#include "voxsift/internal/loss.h"

/* Samples of weight above 0 of a class into ranked[side], falling, equal scores by index. */
void vxs_measured_rank(const vxs_measured *m, const double *z, int side);
/* All samples into ranked[0], a positive as if its score were lower by this. */
void vxs_measured_rank_all(const vxs_measured *m, const double *z, double handicap);

double vxs_worst_errors(vxs_measured *m, const double *z, double *g, double *cost,
                        size_t counts[2]);
double vxs_worst_f(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2]);
double vxs_worst_cell(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2]);
double vxs_worst_top(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2]);
double vxs_worst_pairs(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2]);

#endif
