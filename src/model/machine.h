/* machine.h - kernel machines: products of subjects, and what a model keeps of them; private to the
 * model and evaluate rooms. */
#ifndef VXS_MODEL_MACHINE_H
#define VXS_MODEL_MACHINE_H

#include "model/encoder.h"
#include "model/estimators.h"
#include "model/model.h"

#include <pthread.h>

/* Inner products of a task's subjects, made once for all its parts when the first needs them. Parts
 * whose columns have other factors (those of a prefilter) make their own. */
enum { VXS_SPARE_KERNELS = 8 };
typedef struct vxs_products {
    pthread_mutex_t lock;
    size_t n;
    double *values; /* n x n, of all rows of the cohort; NULL until made */
    double *parts;  /* count x n x n, of each of the task's groups; NULL until made */
    size_t count;
    double *penalties;          /* the task's factors of columns, or NULL */
    bool centered;              /* a value of each column is taken out of it */
    struct vxs_products *given; /* a kernel that stands in their place, or NULL: given_kernel.c */
    double *spare[VXS_SPARE_KERNELS]; /* memory of kernels that parts have done with; or NULL */
} vxs_products;
VXS_MUST_CHECK vxs_products *vxs_products_new(const vxs_task *task, vxs_error *err);
void vxs_products_free(vxs_products *products);
/* subject_products.c: those of the task if its columns are scaled alike in all parts, else of the
 * part's own scaling, which the caller frees: `own`. */
VXS_MUST_CHECK vxs_status vxs_products_of(const vxs_context *context, const vxs_task *task,
                                          const vxs_products **products, bool *own, vxs_error *err);
/* Memory for the kernel of a part, which begins as anything: what another part had, since new pages
 * take as long as the kernel; and back. */
VXS_MUST_CHECK double *vxs_kernel_borrow(vxs_products *products, size_t rows, vxs_error *err);
void vxs_kernel_return(vxs_products *products, double *kernel);
/* For the dense baseline: all features alike, whatever the method does to them; rough, unless the
 * method has made them. */
VXS_MUST_CHECK vxs_status vxs_products_of_dense(const vxs_context *context, const vxs_task *task,
                                                const vxs_products **products, bool *own,
                                                vxs_error *err);

/* The same of each of the task's groups: products->parts. */
VXS_MUST_CHECK vxs_status vxs_group_products_of(const vxs_context *context, const vxs_task *task,
                                                const vxs_products **products, bool *own,
                                                vxs_error *err);

/* Rows without what training subjects have in common: confounds, means, or nothing; means are left
 * in rows of which only distances count. */
typedef struct {
    vxs_residual_products products;
    double *ones, *weights; /* covariates and weights of the regression, where not the task's */
} vxs_residual_rows;
VXS_MUST_CHECK vxs_status vxs_residual_rows_init(const vxs_task *task, const double *products,
                                                 size_t n, bool distances, vxs_residual_rows *rows,
                                                 vxs_error *err);
void vxs_residual_rows_release(vxs_residual_rows *rows);
/* False if nothing but rounding is left of the rows: all subjects have one kernel. */
bool vxs_residual_rows_vary(const vxs_kernel_rows *rows);

/* What the fits of a task share: its kernel. */
typedef struct {
    vxs_prepared head;
    const vxs_products *products;
    bool own;
    double passes; /* made for this task; the first fit takes them over */
    vxs_residual_rows rows;
    vxs_kernel kernel;
    double spread; /* standard deviation of the target */
    vxs_kernel_rows training;
    bool varies;
    double *values;   /* of the kernel, if it is in memory as a whole */
    bool of_features; /* it is made of these, not of products */
    size_t rank;      /* at most; 0: the kernel itself */
    size_t room;      /* subjects of a block, of a kernel that is not in memory */
    vxs_products *pool;
    vxs_design *design;
    vxs_kernel_norm norm;
} vxs_prepared_machine;

/* A kernel machine: the weights of its training subjects and their kernel, or their features. */
typedef struct {
    size_t n;        /* training subjects */
    size_t *subject; /* n: which of the model's training subjects they are, as read; NULL: all */
    double *weight;  /* n */
    size_t *index;   /* for the checker: 0, 1, ... n, or of weights in each kernel */
    double intercept;
    vxs_kernel kernel;
    const vxs_products *products;          /* while training, or NULL */
    const vxs_residual_products *residual; /* the same */
    bool regresses;                        /* the same: on the covariates of a subject */
    const double *own; /* the same: products of training subjects with themselves, or NULL */
    size_t p, covariate_count;
    float *values;  /* p x n: standardized features of the training subjects, column by column */
    double *scales; /* p x (1 + covariate_count): what standardizes a feature of a new subject */
    /* of several kernels: how many, their weights, and, in a model alone, the norms |K_g^(1/2) a|
     * as shares of the largest */
    size_t kernels;
    double *kernel_weight, *kernel_norm;
    double *mixed;          /* while training: the weighted sum of their products */
    vxs_residual_rows rows; /* of these */
    /* p: root mean square, over training subjects, of the score's derivative by a feature; of
     * models whose kernel is not linear */
    double *sensitivity;
    /* Of a kernel of low rank: landmarks among the subjects and their weights, which score others
     * in place of those of all; `exact`, p x rank, are their features in place of `values`, since
     * weights are large where landmarks are nearly dependent. While training, or NULL: `placed`, n,
     * the same weights, 0 for all others. */
    size_t rank, *landmark;
    double *landmark_weight, *placed, *exact;
    /* Of a kernel that is given: n weights of its values, and the values of new subjects with the
     * training subjects, n for each row of their cohort, or NULL. */
    double *flat, *kernel_rows;
} vxs_machine;
VXS_MUST_CHECK vxs_machine *vxs_machine_new(size_t n, vxs_error *err);
void vxs_machine_free(void *machine);
/* Of the training subjects, in scores. */
static inline const double *vxs_machine_weights(const vxs_machine *machine)
{
    return machine->placed ? machine->placed : machine->weight;
}

/* landmarks.c: after a fit; nothing where the kernel is not of low rank. */
VXS_MUST_CHECK vxs_status vxs_machine_reduce(const vxs_prepared_machine *prepared,
                                             vxs_machine *machine, vxs_certificate *certificate,
                                             vxs_error *err);
/* Refuses landmarks, weights and errors that are not those of the subjects. */
VXS_MUST_CHECK vxs_status vxs_machine_same_landmarks(const vxs_prepared_machine *prepared,
                                                     const vxs_output_fit *found,
                                                     const vxs_output_fit *said, vxs_error *err);

/* given_kernel.c */
bool vxs_kernel_is_given(const vxs_method_settings *settings);

/* machine_maps.c: of the task's training subjects. X'v is the mean gradient of the score over
 * these. */
VXS_MUST_CHECK vxs_status vxs_machine_gradient(const vxs_machine *machine,
                                               const vxs_kernel_rows *training,
                                               const vxs_task *task, double *v, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_machine_sensitivity(vxs_machine *machine,
                                                  const vxs_kernel_rows *training,
                                                  const vxs_task *task, vxs_error *err);

/* machine_scores.c: adds to the scores of rows what the features that the model keeps make of them;
 * takes memory for each pair of a row and a support vector. */
VXS_MUST_CHECK vxs_status vxs_machine_score_features(const vxs_machine *machine,
                                                     const vxs_scored_rows *rows, double *scores,
                                                     vxs_error *err);

/* machine.c, for encoders of several kernels: the standard deviation of scores, 1 of classes;
 * columns read / p since a count. */
double vxs_machine_spread(const vxs_task *task);
double vxs_machine_passes(const vxs_task *task, uint64_t read);
/* The beginning of `decode`: a machine with its intercept, and passes over the data that the task
 * has made, which the first fit takes over. The solver's intercept is the only coefficient; the
 * other covariates are out of the features. */
VXS_MUST_CHECK vxs_status vxs_machine_begin(const vxs_task *task, double *passes,
                                            vxs_output_fit *output, vxs_error *err);
/* Weights X'v of the task's columns, times a factor of each (NULL: 1), replace those of subjects.
 */
VXS_MUST_CHECK vxs_status vxs_machine_scan(const vxs_task *task, const double *v,
                                           const double *factor, vxs_solution *fit, vxs_error *err);
/* Refuses weights of features that do not follow from those of subjects. */
VXS_MUST_CHECK vxs_status vxs_machine_same_weights(const vxs_solution *again,
                                                   const vxs_solution *fit, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_machine_score(const vxs_output_fit *output,
                                            const vxs_scored_rows *rows, double *scores,
                                            vxs_error *err);

/* machine_files.c */
extern const vxs_model_file vxs_machine_files[];
VXS_MUST_CHECK vxs_status vxs_machine_read(vxs_model *model, const char *folder, vxs_error *err);
/* A map of values of at least 0, a volume for each output. */
typedef struct {
    const char *name, *intent, *descrip;
} vxs_machine_map;
VXS_MUST_CHECK vxs_status vxs_machine_write_map(const vxs_model *model, const vxs_machine_map *map,
                                                const float *values, FILE *stream, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_machine_write_alpha(const vxs_model *model, const vxs_task *task,
                                                  FILE *stream, vxs_error *err);
/* multi_kernel_files.c */
extern const vxs_model_file vxs_several_files[];
VXS_MUST_CHECK vxs_status vxs_several_read(vxs_model *model, const char *folder, vxs_error *err);

#endif
