/* chunk.h - runs in pieces; private to the evaluate room.
 *
 * A run has units: outer folds, permutations, pairs of halves. A chunk computes a share of them and
 * writes a part: part.json says of what run, numbers.npy has the units' numbers one behind the
 * other. What a unit consists of is said by one function, which packs it and unpacks it, so that
 * the two cannot differ. */
#ifndef VXS_EVALUATE_CHUNKS_CHUNK_H
#define VXS_EVALUATE_CHUNKS_CHUNK_H

#include "evaluate/evaluate.h"

/* The units first ... end - 1 of a chunk; more chunks than units are refused. */
VXS_MUST_CHECK vxs_status vxs_chunk_share(vxs_chunk chunk, size_t units, const char *what,
                                          size_t *first, size_t *end, vxs_error *err);

/* serialize.c: numbers on their way out, or in when `from` is set. What fails is kept in `status`,
 * and nothing is done from then on; what comes in then is 0. */
typedef struct {
    const double *from;
    const char *name;       /* of the file, for messages */
    double *numbers;        /* on their way out */
    size_t count, room, at; /* count: of numbers or from */
    vxs_status status;
    vxs_error *err;
} vxs_serializer;
void vxs_serialize_reals(vxs_serializer *pack, double *values, size_t count);
/* A whole number that is refused on its way in when it is more than `most`. */
void vxs_serialize_size(vxs_serializer *pack, size_t *value, size_t most);
void vxs_serialize_flag(vxs_serializer *pack, bool *value);
/* Zeroed memory for what comes in; NULL when that fails or something had failed. */
void *vxs_serialize_room(vxs_serializer *pack, size_t count, size_t size);
/* Of what comes in nothing may be left. */
VXS_MUST_CHECK vxs_status vxs_serialize_end(vxs_serializer *pack);
typedef void vxs_serialize_unit(vxs_serializer *pack, void *run, size_t unit);
/* serialize_fits.c: a fit of the task, and the features that each output selected. */
void vxs_serialize_fit(vxs_serializer *pack, const vxs_task *task, vxs_solution *fit);
void vxs_serialize_selected(vxs_serializer *pack, const vxs_task *task, bool *selected);
/* serialize_features.c: the features that a run's units are of; names of files stay. */
void vxs_serialize_features(vxs_serializer *pack, vxs_features_state *state);
void vxs_features_json_state(vxs_json_writer *w, const vxs_features_state *state);
VXS_MUST_CHECK vxs_status vxs_features_read(const vxs_json *about, const char *file,
                                            vxs_features_state *state, vxs_error *err);
/* A job whose subjects and points are known and which has room for its results. */
typedef struct {
    const vxs_task *task;
    vxs_job *job;
} vxs_packed_job;
void vxs_serialize_job(vxs_serializer *pack, void *packed_job, size_t unit);

/* What kinds of run there are. Their settings are structs that begin with those of the task. */
typedef struct {
    const char *name; /* of the command */
    const char *units;
    struct {
        const char *key; /* as in the JSON of its results */
        const vxs_param *table;
    } groups[4]; /* ends with key == NULL */
} vxs_run_kind;
extern const vxs_run_kind vxs_run_kinds[]; /* by VXS_RUN_CV ... */

/* A run, whole or not. */
typedef struct {
    int kind;
    const vxs_task *task;
    const void *settings;
    const vxs_method_settings *method;
    double observed;                 /* by permutations alone; else NAN */
    const vxs_class_scores *classes; /* their scores, or NULL */
} vxs_run;
/* What must be the same for units to belong together, SHA-256 of settings, subjects and cohort;
 * freed by the caller. */
VXS_MUST_CHECK char *vxs_run_fingerprint(const vxs_run *run, vxs_error *err);

/* run_checkpoint.c: units that are finished, kept where the pieces say; NULL keeps nothing. What a
 * run finds there it need not do again. Threads may share a checkpoint. */
typedef struct vxs_run_checkpoint vxs_run_checkpoint;
VXS_MUST_CHECK vxs_status vxs_run_checkpoint_open(const vxs_context *context,
                                                  const vxs_chunking *chunking, const vxs_run *run,
                                                  size_t units, vxs_run_checkpoint **checkpoint,
                                                  vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_run_checkpoint_find(const vxs_run_checkpoint *checkpoint, size_t unit,
                                                  vxs_serialize_unit *serialize_unit, void *what,
                                                  bool *found, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_run_checkpoint_add(vxs_run_checkpoint *checkpoint, size_t unit,
                                                 vxs_serialize_unit *serialize_unit, void *what,
                                                 vxs_error *err);
void vxs_run_checkpoint_close(vxs_run_checkpoint *checkpoint);

/* part_write.c: a directory of a chunk's units, or its files alone. */
VXS_MUST_CHECK vxs_status vxs_part_write(const vxs_context *context, const vxs_run *run,
                                         vxs_chunk chunk, size_t units, double seconds,
                                         vxs_serialize_unit *serialize_unit, void *what,
                                         vxs_output *output, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_part_save(const vxs_context *context, const vxs_run *run,
                                        vxs_chunk chunk, size_t units, double seconds,
                                        vxs_serialize_unit *serialize_unit, void *what,
                                        const char *directory, bool replace, vxs_error *err);
#define VXS_PART_FILE    "part.json"
#define VXS_NUMBERS_FILE "numbers.npy"

/* part_read.c: the parts of one run, in the order of their chunks. */
typedef struct {
    const char *path;
    vxs_json *about;
    double *numbers;
    size_t count;
    vxs_chunk chunk;
} vxs_part;
typedef struct {
    vxs_part *each;
    size_t count;
    int kind;
    double observed, seconds;
} vxs_parts;
VXS_MUST_CHECK vxs_status vxs_parts_read(const char *const *paths, vxs_parts *parts,
                                         vxs_error *err);
void vxs_parts_release(vxs_parts *parts);
/* Refuses the checkpoint of a run that has not finished. */
VXS_MUST_CHECK vxs_status vxs_part_check_finished(const char *path, vxs_error *err);
/* Of permutations: what each class comes to with the observed target; none where there is no class.
 * Released by the caller, whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_parts_classes(const vxs_parts *parts, size_t count,
                                            vxs_class_scores *classes, vxs_error *err);
/* All units, each once. */
VXS_MUST_CHECK vxs_status vxs_parts_unpack(const vxs_parts *parts, size_t units,
                                           vxs_serialize_unit *serialize_unit, void *what,
                                           vxs_error *err);

/* cv_chunk.c, permute.c, stability.c: results of all units, as if they had been computed here. */
VXS_MUST_CHECK vxs_status vxs_cv_merge(const vxs_context *context, const vxs_parts *parts,
                                       vxs_merged *merged, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_permute_merge(const vxs_context *context, const vxs_parts *parts,
                                            vxs_merged *merged, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_stability_save_part(const vxs_context *context, const vxs_task *task,
                                                  const vxs_stability_settings *settings,
                                                  const vxs_method_settings *method,
                                                  const vxs_stability *result,
                                                  const char *directory, bool replace,
                                                  vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_stability_merge(const vxs_parts *parts, vxs_merged *merged,
                                              vxs_error *err);

#endif
