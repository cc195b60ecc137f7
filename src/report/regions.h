/* regions.h - a region table in the making; private to the report room. */
#ifndef VXS_REPORT_REGIONS_H
#define VXS_REPORT_REGIONS_H

#include "voxsift/internal/report.h"

#define VXS_MAX_ATLASES 16

typedef struct {
    const vxs_regions_settings *settings;
    const char *map, *underlay; /* absolute where they can be; no underlay: NULL */
    vxs_clusters clusters;
    double largest; /* of the map, in size */
    int connectivity;
    size_t atlases;
    vxs_atlas atlas[VXS_MAX_ATLASES];
    char *atlas_name[VXS_MAX_ATLASES];
    vxs_overlap *overlap[VXS_MAX_ATLASES]; /* a row a cluster */
    bool rounded;                          /* three significant digits, for a terminal */
    const vxs_warnings *warnings;          /* of the run; NULL: none */
} vxs_region_table;

/* The index of cluster k, which is also its value in the label image: from 1 by falling size, in
 * FSL's table by rising size. */
int vxs_region_index(const vxs_region_table *t, size_t k);

/* The map of a directory that voxsift made, or the image itself; freed by the caller. */
char *vxs_find_map(const char *map, vxs_error *err);

/* table.c */
void vxs_region_write(const vxs_region_table *t, FILE *stream);
void vxs_region_write_json(const vxs_region_table *t, FILE *stream);
void vxs_region_dictionary(const vxs_region_table *t, FILE *stream);

/* companions.c: files for viewers. Ends with name == NULL. */
typedef struct {
    const char *name;
    void (*write)(const vxs_region_table *t, FILE *stream);
} vxs_companion;
extern const vxs_companion vxs_companions[];
/* "cluster 3: Left insula"; the first atlas names it. */
void vxs_region_name(const vxs_region_table *t, size_t k, char *buffer, size_t size);

#endif
