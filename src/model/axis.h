/* axis.h - the second axis of a hyperparameter grid: weights of a Laplacian, or gamma of a kernel.
 * Each of its values has a path of its own. second_axis.c is the only place that knows which there
 * are. Private to the model, evaluate and report rooms. */
#ifndef VXS_MODEL_AXIS_H
#define VXS_MODEL_AXIS_H

#include "voxsift/internal/model.h"

/* Offsets are those of a list as text and of the chosen value in
 * vxs_method_settings, and of the latter in vxs_certificate. */
#define VXS_MOST_ACROSS 16
typedef struct vxs_axis {
    const char *option;  /* "gamma", also the key of a chosen value */
    const char *key;     /* "gammas": of all that were tried */
    const char *words;   /* in legends */
    const char *also;    /* " and gamma": behind what else is chosen */
    const char *expects; /* "numbers from 1 to 2" */
    /* The list that folds choose from and the value without folds, if the option is not given;
     * NULL: the usual value alone. */
    const char *tried, *one;
    double usual, least, most;
    bool larger_is_simpler; /* for the one-standard-error rule */
    size_t list, value, certificate;
    bool (*applies)(const vxs_method_settings *settings); /* NULL: always */
} vxs_axis;
extern const vxs_axis vxs_laplacian_axis, vxs_gamma_axis, vxs_width_axis;
/* The second hyperparameter of a method with these settings, or NULL. */
const vxs_axis *vxs_axis_of(const vxs_task_settings *task, const vxs_method_settings *method);
/* The values that the option lists, which differ, or the usual one; or a refusal of several. */
VXS_MUST_CHECK vxs_status vxs_axis_read(const vxs_axis *axis, const vxs_method_settings *settings,
                                        double values[VXS_MOST_ACROSS], size_t *count,
                                        vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_axis_read_one(const vxs_axis *axis,
                                            const vxs_method_settings *settings, double *value,
                                            vxs_error *err);
/* Lists the value that is taken without folds, where no list is given. */
void vxs_axis_take_one(const vxs_axis *axis, vxs_method_settings *settings);
/* Sets the chosen value; nothing without an axis. */
void vxs_axis_set(const vxs_axis *axis, double value, vxs_method_settings *settings);
/* The value that a certificate records; 0 without an axis. */
double vxs_axis_certified(const vxs_axis *axis, const vxs_certificate *certificate);

#endif
