/* integrity.h - names and hashes of the feature files, computed while they are written; private to
 * the cohort room. */
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
    vxs_hash hash; /* hash of the last file, during its writing */
} vxs_features_record;
/* Begins a file: writes and hashes its NPY header. vxs_record_add expects the rest in file order.
 */
VXS_MUST_CHECK vxs_status vxs_record_begin(vxs_features_record *record, const char *name,
                                           FILE *stream, char kind, int item_size, int ndim,
                                           const size_t *shape, vxs_error *err);
void vxs_record_add(vxs_features_record *record, const void *bytes, size_t length);
void vxs_record_end(vxs_features_record *record);
/* Fails unless the record in cohort.json names the existing feature files. A cohort without a
 * record passes. */
VXS_MUST_CHECK vxs_status vxs_cohort_check_record(const vxs_cohort *cohort, vxs_error *err);
/* Name of feature file k, in the order of writing. */
const char *vxs_features_name(const vxs_cohort *cohort, size_t k);
/* Writes the keys of cohort.json. Every value is finite, since writers refuse NaN. */
void vxs_record_json(vxs_json_writer *w, const vxs_features_record *record);

#endif
