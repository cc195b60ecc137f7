/* report.c - one page about a model or a cross-validation. */
#include "report/story.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(vxs_report_settings, member)

const vxs_param vxs_report_params[] = {
    { .name = "out",
      .letter = 'o',
      .value = "FILE",
      .type = VXS_PARAM_PATH,
      .offset = AT(out),
      .required = true,
      .help = "page to make; it appears when it is complete" },
    { .name = "force",
      .type = VXS_PARAM_FLAG,
      .offset = AT(force),
      .help = "replace a file that exists" },
    { .name = "atlas",
      .value = "ATLAS",
      .type = VXS_PARAM_PATH,
      .offset = AT(atlas),
      .help = "names for the regions: a file, or a name such as schaefer100" },
    { .name = "atlas-names",
      .value = "FILE",
      .type = VXS_PARAM_PATH,
      .offset = AT(atlas_names),
      .help = "names of the atlas's labels, when they are not in a file beside it" },
    { .name = "underlay",
      .value = "IMAGE",
      .type = VXS_PARAM_PATH,
      .offset = AT(underlay),
      .help = "image under the maps: a file, icbm152 (the average brain that comes with voxsift; "
              "used by itself when the images say that they are in MNI space) or none" },
    { .name = NULL },
};

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:60rem;margin:2r"
    "em auto;padding:0 1rem}h1{font-size:1.7rem;margin:0}h2{font-size:1.2rem;border-bottom:1px so"
    "lid #ccc;margin-top:2.2rem}.lead{font-size:1.1rem}.small,figcaption,.cite{font-size:.85rem;c"
    "olor:#555}table{border-collapse:collapse;margin:.6rem 0;display:block;overflow-x:auto}th,td{"
    "text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top;border-bottom:1px solid #ee"
    "e}th{font-weight:600}td{overflow-wrap:anywhere}.n "
    "td{text-align:right;white-space:nowrap;overflow-wrap:normal}."
    "n .t{text-align:left}.warn{background:#fff6df;border-left:4px solid #d9a400;padding:.4rem .8"
    "rem}.row{display:flex;flex-wrap:wrap;gap:1rem}svg{max-width:100%;height:auto}svg text{font-s"
    "ize:12px;fill:#333}svg .m{text-anchor:middle}svg .e{text-anchor:end}svg .b{font-weight:600}s"
    "vg .axis{stroke:#888;fill:none}svg .dash{stroke:#999;stroke-dasharray:5 4;fill:none}figure{m"
    "argin:1rem 0}.brain{position:relative;display:table;max-width:100%;background:#000;margin-bo"
    "ttom:.3rem}.brain img{max-width:100%;height:auto;display:block}.brain span{position:absolute"
    ";top:2px;color:#fff;font:bold 13px sans-serif}.brain .l{left:4px}";

/* ---- The files ------------------------------------------------------------------------------- */

static vxs_status read_about(vxs_story *s, vxs_error *err)
{
    static const char *const names[] = { "cv.json", "model.json" };
    vxs_status status = VXS_OK;
    char *path = NULL;
    for (int k = 0; k < 2; k++) {
        free(path);
        path = vxs_format(err, "%s/%s", s->directory, names[k]);
        if (!path)
            return VXS_FAILED;
        s->is_cv = k == 0;
        if (access(path, F_OK) == 0)
            break;
    }
    if (!s->is_cv && access(path, F_OK) != 0)
        status = vxs_fail(err, VXS_MISSING, "'%s' is neither a model nor a cross-validation",
                          s->directory);
    else
        status = vxs_json_read(path, &s->about, err);
    const char *format = vxs_story_text(s->about, "format");
    if (!status && strcmp(format, s->is_cv ? "voxsift cross-validation" : "voxsift model") != 0)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' is of another format", path);
    free(path);
    return status;
}

static vxs_status open_story(vxs_story *s, vxs_error *err)
{
    vxs_status status = read_about(s, err);
    if (status)
        return status;
    const vxs_json *classes = vxs_json_get(s->about, "classes");
    s->classes = strcmp(vxs_story_text(s->about, "loss"), "squared") != 0;
    s->class_count = classes ? classes->length : 0;
    if (!s->is_cv)
        return VXS_OK;
    char *path = vxs_format(err, "%s/predictions.tsv", s->directory);
    status = path ? vxs_table_read(path, &s->predictions, err) : VXS_FAILED;
    free(path);
    return status;
}

/* ---- The page -------------------------------------------------------------------------------- */

static vxs_status put_page(vxs_story *s, vxs_error *err)
{
    const char *target = vxs_story_text(s->about, "target");
    vxs_put(s->out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
            "name=\"viewport\" content=\"width=device-width\"><title>%s - voxsift</title><style>",
            target);
    fputs(style, s->out);
    vxs_put(s->out, "</style></head><body>\n<h1>%s</h1>\n<p class=\"small\">%s by voxsift %s</p>\n",
            target, s->is_cv ? "A cross-validation" : "A model",
            vxs_story_text(s->about, "voxsift"));
    vxs_status status = VXS_OK;
    if (s->is_cv) {
        vxs_story_lead(s);
        status = vxs_story_scores(s, err);
    }
    if (!status)
        status = vxs_story_maps(s, err);
    if (!status) {
        vxs_story_done(s);
        vxs_story_certificate(s);
        vxs_story_methods(s);
        fputs("</body></html>\n", s->out);
    }
    return status;
}

/* Under a temporary name beside the final one, renamed when it is whole. */
static vxs_status write_page(vxs_story *s, vxs_error *err)
{
    const char *path = s->settings->out;
    char *part = vxs_format(err, "%s.part-%ld", path, (long)getpid());
    if (!part)
        return VXS_FAILED;
    s->out = fopen(part, "wx");
    vxs_status status =
        s->out ? VXS_OK
               : vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': %s", path, strerror(errno));
    if (!status) {
        status = put_page(s, err);
        vxs_status closed = vxs_file_close(s->out, path, err);
        status = status ? status : closed;
        if (!status && rename(part, path) != 0)
            status =
                vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': %s", path, strerror(errno));
        if (status)
            unlink(part);
    }
    free(part);
    return status;
}

vxs_status vxs_report(const vxs_context *context, const vxs_report_settings *settings,
                      const char *directory, vxs_error *err)
{
    vxs_story s = { .settings = settings, .directory = directory };
    if (access(settings->out, F_OK) == 0 && !settings->force)
        return vxs_fail(err, VXS_CANNOT_WRITE,
                        "cannot write '%s': it exists; pass --force to replace it", settings->out);
    vxs_status status = open_story(&s, err);
    if (!status)
        status = vxs_check_interrupted(context, err);
    if (!status)
        status = write_page(&s, err);
    vxs_json_free(s.about);
    vxs_table_free(s.predictions);
    return status;
}
