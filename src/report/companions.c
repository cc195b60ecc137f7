/* companions.c - the names and colors of clusters for the viewers people use, each in its own
 * format, and the command line that opens a map as it is meant. */
#include "report/regions.h"

#include <math.h>
#include <string.h>

void vxs_region_name(const vxs_region_table *t, size_t k, char *buffer, size_t size)
{
    const char *label = t->atlases > 0 ? t->overlap[0][k].label : NULL;
    int used = snprintf(buffer, size, "cluster %d%s", vxs_region_index(t, k), label ? ": " : "");
    if (label)
        vxs_shown_copy(label, buffer + used, size - (size_t)used);
    for (char *c = buffer; *c; c++) /* would end a name in some format */
        if (*c == '"')
            *c = ' ';
}

/* Hues a golden section apart: neighbors in the table never look alike. */
static void color(size_t k, double rgb[3])
{
    double hue = fmod(0.61803398874989485 * (double)k, 1) * 6;
    for (int c = 0; c < 3; c++) {
        double distance = fabs(fmod(hue + 6 - 2 * c, 6) - 3); /* 3 at the channel's own hue */
        rgb[c] = 0.15 + 0.85 * fmin(fmax(distance - 1, 0), 1);
    }
}

static void write_fsleyes(const vxs_region_table *t, FILE *stream)
{
    for (size_t k = 0; k < t->clusters.count; k++) {
        double rgb[3];
        char name[256];
        color(k, rgb);
        vxs_region_name(t, k, name, sizeof(name));
        fprintf(stream, "%d %.5f %.5f %.5f %s\n", vxs_region_index(t, k), rgb[0], rgb[1], rgb[2],
                name);
    }
}

static void write_mricrogl(const vxs_region_table *t, FILE *stream)
{
    for (size_t k = 0; k < t->clusters.count; k++) {
        char name[256];
        vxs_region_name(t, k, name, sizeof(name));
        fprintf(stream, "%d %s\n", vxs_region_index(t, k), name);
    }
}

static int byte_of(double share)
{
    return (int)lround(255 * share);
}

static void write_itksnap(const vxs_region_table *t, FILE *stream)
{
    fputs("################################################\n"
          "# ITK-SnAP Label Description File\n"
          "# File format: IDX   -R-  -G-  -B-  -A--  VIS MSH  LABEL\n"
          "################################################\n"
          "    0     0    0    0        0  0  0    \"Clear Label\"\n",
          stream);
    for (size_t k = 0; k < t->clusters.count; k++) {
        double rgb[3];
        char name[256];
        color(k, rgb);
        vxs_region_name(t, k, name, sizeof(name));
        fprintf(stream, "%5d   %3d  %3d  %3d        1  1  1    \"%s\"\n", vxs_region_index(t, k),
                byte_of(rgb[0]), byte_of(rgb[1]), byte_of(rgb[2]), name);
    }
}

/* One channel of the colors, or the indices; 0 comes first and is clear. */
static void write_channel(vxs_json_writer *w, const vxs_region_table *t, const char *key,
                          int channel)
{
    vxs_json_open_array(w, key);
    vxs_json_whole(w, NULL, 0);
    for (size_t k = 0; k < t->clusters.count; k++) {
        double rgb[3];
        color(k, rgb);
        vxs_json_whole(w, NULL,
                       channel < 3    ? byte_of(rgb[channel])
                       : channel == 3 ? 255
                                      : vxs_region_index(t, k));
    }
    vxs_json_close_array(w);
}

static void write_niivue(const vxs_region_table *t, FILE *stream)
{
    static const char *const keys[] = { "R", "G", "B", "A", "I" };
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    for (int channel = 0; channel < 5; channel++)
        write_channel(&w, t, keys[channel], channel);
    vxs_json_open_array(&w, "labels");
    vxs_json_text(&w, NULL, "");
    for (size_t k = 0; k < t->clusters.count; k++) {
        char name[256];
        vxs_region_name(t, k, name, sizeof(name));
        vxs_json_text(&w, NULL, name);
    }
    vxs_json_close_array(&w);
    vxs_json_close_object(&w);
}

/* A word of sh; one with bytes that are not for display is spelt in octal digits. */
static void write_quoted(FILE *stream, const char *word)
{
    size_t length = strlen(word);
    bool plain = vxs_shown_span(word, length) == length;
    fputs(plain ? "'" : "\"$(printf '%b' '", stream);
    for (; *word; word++) {
        if (!plain)
            fprintf(stream, "\\0%03o", (unsigned char)*word);
        else
            fputs(*word == '\'' ? "'\\''" : (char[2]){ *word, '\0' }, stream);
    }
    fputs(plain ? "'" : "')\"", stream);
}

/* The window starts at the threshold, so that the background of a sparse map stays clear. */
static void write_command(const vxs_region_table *t, FILE *stream)
{
    const vxs_regions_settings *s = t->settings;
    fputs("#!/bin/sh\n# Opens the map as it is meant: hot for positive, cold for negative values,\n"
          "# clusters outlined. FSLeyes shows the left of the brain on the right; -no turns that.\n"
          "cd \"$(dirname \"$0\")\" || exit 1\nfsleyes ",
          stream);
    if (t->underlay) {
        write_quoted(stream, t->underlay);
        fputc(' ', stream);
    }
    write_quoted(stream, t->map);
    fprintf(stream,
            " -cm red-yellow -nc blue-lightblue -un -dr %.6g %.6g clusters.nii.gz -ot label "
            "-l clusters_fsleyes.lut -o\n",
            s->threshold, t->largest);
}

const vxs_companion vxs_companions[] = {
    { "clusters_fsleyes.lut", write_fsleyes }, { "clusters.txt", write_mricrogl },
    { "clusters_itksnap.txt", write_itksnap }, { "clusters_niivue.json", write_niivue },
    { "open_fsleyes.sh", write_command },      { NULL, NULL },
};
