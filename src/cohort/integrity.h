/* integrity.h - what cohort.json records of the files of features, found while they are written;
 * private to the cohort room. */
#ifndef VXS_COHORT_INTEGRITY_H
#define VXS_COHORT_INTEGRITY_H

#include "core/hash.h"
#include "voxsift/internal/cohort.h"

typedef struct {
    size_t count;
    struct {
        const char *name;
        char hash[VXS_HASH_TEXT];
    } file[VXS_FEATURES_FILES];
    vxs_hash hash; /* of the file that is being written, the last one */
} vxs_features_record;
/* Begins a file: writes its NPY header. What follows it is added in the order of the file. */
VXS_MUST_CHECK vxs_status vxs_record_begin(vxs_features_record *record, const char *name,
                                           FILE *stream, char kind, int item_size, int ndim,
                                           const size_t *shape, vxs_error *err);
void vxs_record_add(vxs_features_record *record, const void *bytes, size_t length);
void vxs_record_end(vxs_features_record *record);
/* Whether the record names the files that are there, before anything is made of them. A cohort
 * without a record is fine. */
VXS_MUST_CHECK vxs_status vxs_cohort_check_record(const vxs_cohort *cohort, vxs_error *err);
/* The files of features, in the order in which they are written. */
const char *vxs_features_name(const vxs_cohort *cohort, size_t k);
/* The keys of cohort.json. Every value is finite: writers refuse what is not. */
void vxs_record_json(vxs_json_writer *w, const vxs_features_record *record);

#endif
