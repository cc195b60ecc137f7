/* story.h - what a report tells, section by section; private to the report room.
 *
 * report.c opens the page and the files behind it; about.c tells what was done, scores.c how well
 * it predicts, maps.c where. All of them read the directory, and nothing else. */
#ifndef VXS_REPORT_STORY_H
#define VXS_REPORT_STORY_H

#include "report/page.h"

typedef struct {
    const vxs_report_settings *settings;
    const char *directory;
    FILE *out;
    vxs_json *about; /* cv.json or model.json */
    bool is_cv;
    vxs_table *predictions; /* of a cross-validation */
    bool classes;
    size_t class_count;
} vxs_story;

/* about.c */
void vxs_story_done(const vxs_story *story);        /* what was done, and to whom */
void vxs_story_certificate(const vxs_story *story); /* how far each answer can be trusted */
void vxs_story_methods(const vxs_story *story); /* a paragraph for a paper, and where it is from */
/* scores.c: of a cross-validation; in a sentence, and in full */
void vxs_story_lead(const vxs_story *story);
VXS_MUST_CHECK vxs_status vxs_story_scores(const vxs_story *story, vxs_error *err);
/* maps.c: of voxels */
VXS_MUST_CHECK vxs_status vxs_story_maps(const vxs_story *story, vxs_error *err);

/* A number of the object, NAN when it has none; and a text, "" when it has none. */
static inline double vxs_story_number(const vxs_json *object, const char *key)
{
    return vxs_json_get_number(object, key);
}
static inline const char *vxs_story_text(const vxs_json *object, const char *key)
{
    const char *text = vxs_json_get_text(object, key);
    return text ? text : "";
}

#endif
