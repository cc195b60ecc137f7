/* simulations.c - the table of simulated models, and the call that makes a cohort of one. */
#include "simulate/simulate.h"

#include <math.h>

const char *const vxs_simulation_names[] = { "lasso",       "fused",         "pairs",
                                             "skfs-linear", "skfs-additive", "skfs-nonadditive",
                                             "spheres",     "bags",          NULL };

#define AT(member) offsetof(vxs_simulation_settings, images.member)

#define SUBJECTS                                                                                   \
    .name = "subjects", .value = "N", .help = "number of subjects, one image each",                \
    .type = VXS_PARAM_WHOLE, .offset = AT(subjects), .initial = 200, .min = 4, .max = 100000
#define IMAGES                                                                                     \
    .name = "images", .value = "WHERE",                                                            \
    .help = "perturb your own images: a folder, a list (.txt) or a pattern in "                    \
            "quotes; a random sample of --subjects of them",                                       \
    .type = VXS_PARAM_PATH, .offset = AT(images)
#define MASK                                                                                       \
    .name = "mask", .value = "FILE",                                                               \
    .help = "mask image; default: left temporal lobe in MNI space", .type = VXS_PARAM_PATH,        \
    .offset = AT(mask)
#define RESAMPLE                                                                                   \
    .name = "resample", .help = "resample images and mask to the most common grid",                \
    .type = VXS_PARAM_FLAG, .offset = AT(resample)
#define VOXEL_SIZE                                                                                 \
    .name = "voxel-size", .value = "MM",                                                           \
    .help = "voxel size in mm; default: that of the images, 2 for simulated images",               \
    .type = VXS_PARAM_REAL, .offset = AT(voxel_size), .initial = NAN, .min = 0.5, .max = 20
#define WRITE_IMAGES                                                                               \
    .name = "write-images", .help = "also write the image of each subject",                        \
    .type = VXS_PARAM_FLAG, .offset = AT(write_images)
#define RADIUS                                                                                     \
    .name = "radius", .value = "VOXELS",                                                           \
    .help = "radius of a sphere within the mask, in voxels; 4: 257 voxels",                        \
    .type = VXS_PARAM_WHOLE, .offset = AT(radius), .initial = 4, .min = 1, .max = 50
#define SEED                                                                                       \
    .name = "seed", .value = "N", .help = "random seed; the same seed gives the same cohort",      \
    .type = VXS_PARAM_WHOLE, .offset = AT(seed), .initial = 1, .min = 0,                           \
    .max = 9007199254740992.0 /* 2^53, as for all seeds */
#define EFFECT                                                                                     \
    .name = "effect", .value = "MU",                                                               \
    .help = "mean of the values added to the voxels of the sphere", .type = VXS_PARAM_REAL,        \
    .offset = AT(effect), .min = -1e9, .max = 1e9
#define SPREAD                                                                                     \
    .name = "spread", .value = "SHARE",                                                            \
    .help =                                                                                        \
        "standard deviation of the added values, relative to that of the image within the mask",   \
    .type = VXS_PARAM_REAL, .offset = AT(spread), .initial = 1, .min = 0, .max = 1000
#define SIGMA                                                                                      \
    .name = "sigma", .value = "SD",                                                                \
    .help = "scale images to this mean standard deviation within the mask; default "               \
            "262.75 for simulated images, none for --images",                                      \
    .type = VXS_PARAM_REAL, .offset = AT(sigma), .initial = NAN, .min = 1e-9, .max = 1e9
#define WARP                                                                                       \
    .name = "warp", .value = "MM",                                                                 \
    .help = "simulated images: standard deviation of the displacement along an axis",              \
    .type = VXS_PARAM_REAL, .offset = AT(warp), .initial = 3, .min = 0, .max = 100
#define BIAS                                                                                       \
    .name = "bias", .value = "SHARE",                                                              \
    .help = "simulated images: standard deviation of the smooth gain, on a log scale",             \
    .type = VXS_PARAM_REAL, .offset = AT(bias), .initial = 0.1, .min = 0, .max = 5
#define VOXEL_NOISE                                                                                \
    .name = "voxel-noise", .value = "SHARE",                                                       \
    .help = "simulated images: standard deviation of voxel noise, relative to that of the "        \
            "average brain in the mask",                                                           \
    .type = VXS_PARAM_REAL, .offset = AT(voxel_noise), .initial = 0.1, .min = 0, .max = 100

#define PERTURBED(mu)                                                                              \
    { SUBJECTS }, { IMAGES }, { MASK }, { RADIUS }, { EFFECT, .initial = (mu) }, { SPREAD },       \
        { SIGMA }, { WARP }, { BIAS }, { VOXEL_NOISE }, { VOXEL_SIZE }, { RESAMPLE },              \
        { WRITE_IMAGES }, { SEED },                                                                \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const vxs_param linear_params[] = { PERTURBED(100) };
static const vxs_param nonlinear_params[] = { PERTURBED(200) };

static const char *const target_names[] = { "score", "diagnosis", NULL };

static const vxs_param spheres_params[] = {
    { SUBJECTS },
    { IMAGES },
    { MASK },
    VXS_TEXT_ROW("shape", "X,Y,Z", AT(shape),
                 "size in voxels of simulated box-shaped images, instead of a temporal lobe"),
    { RADIUS },
    VXS_WHOLE_ROW("regions", "K", AT(regions), 3, 1, 1000, "number of disjoint spheres"),
    VXS_REAL_ROW("effect", "W", AT(effect), 2, -1e9, 1e9,
                 "absolute weight of each sphere's mean; signs alternate"),
    VXS_REAL_ROW("noise", "SD", AT(noise), 1, 0, 1e9,
                 "standard deviation of the noise on the score"),
    VXS_CHOICE_ROW("target", "KIND", AT(target), 0, target_names,
                   "target: a score, or a diagnosis (score above its median)"),
    VXS_REAL_ROW("smooth", "MM", AT(smooth), 8, 0, 50,
                 "simulated images: smoothness in mm, full width at half maximum"),
    { VOXEL_SIZE },
    { RESAMPLE },
    { WRITE_IMAGES },
    { SEED },
    { .name = NULL },
};

static const vxs_param bags_params[] = {
    { SUBJECTS },
    { MASK },
    VXS_TEXT_ROW("shape", "X,Y,Z", AT(shape),
                 "size in voxels of box-shaped images, instead of a temporal lobe"),
    VXS_WHOLE_ROW("edge", "VOXELS", AT(edge), 4, 2, 50, "edge of the cube that has the texture"),
    VXS_REAL_ROW("share", "SHARE", AT(share), 0.25, 0.01, 0.9, "share of patients"),
    VXS_REAL_ROW("effect", "SIZE", AT(effect), 3, -1e9, 1e9,
                 "size of the texture, in standard deviations of the noise"),
    VXS_REAL_ROW("smooth", "MM", AT(smooth), 5, 0, 50,
                 "smoothness of the noise in mm, full width at half maximum"),
    { VOXEL_SIZE },
    { WRITE_IMAGES },
    { SEED },
    { .name = NULL },
};

const vxs_simulation vxs_simulations[] = {
    { .name = "lasso",
      .summary = "a score that is a sparse linear function of uniform features",
      .params = vxs_lasso_simulation_params },
    { .name = "fused",
      .summary = "a score with weights that are constant on subgraphs of a random graph",
      .params = vxs_fused_simulation_params,
      .graph = "graph.tsv" },
    { .name = "pairs",
      .summary = "a diagnosis from products of feature pairs, without main effects",
      .params = vxs_pairs_simulation_params,
      .pairs = true },
    { .name = "skfs-linear",
      .summary = "brain images; positive subjects are perturbed in a sphere",
      .params = linear_params,
      .plan = &vxs_plan_linear },
    { .name = "skfs-additive",
      .summary = "brain images; the diagnosis is a sum of nonlinear functions of a sphere's voxels",
      .params = nonlinear_params,
      .plan = &vxs_plan_additive },
    { .name = "skfs-nonadditive",
      .summary = "brain images; the diagnosis is a sum of products of a sphere's voxels",
      .params = nonlinear_params,
      .plan = &vxs_plan_nonadditive },
    { .name = "spheres",
      .summary = "smooth noise images; a score or a diagnosis from the means of several spheres",
      .params = spheres_params,
      .plan = &vxs_plan_spheres },
    { .name = "bags",
      .summary = "smooth noise images; each patient has a small texture in a place of its own",
      .params = bags_params,
      .plan = &vxs_plan_bags },
    { .name = NULL },
};

vxs_status vxs_simulate(const vxs_context *context, const vxs_simulation *simulation,
                        const vxs_simulation_settings *settings, const char *directory,
                        bool replace, vxs_simulation_summary *summary, vxs_error *err)
{
    if (simulation->plan)
        return vxs_simulate_images(context, simulation, &settings->images, directory, replace,
                                   summary, err);
    if (simulation->graph) {
        const vxs_fused_simulation *s = &settings->fused;
        *summary = (vxs_simulation_summary){ .subjects = (size_t)s->subjects,
                                             .features = (size_t)s->features,
                                             .seed = s->seed };
        return vxs_simulate_fused(context, s, directory, replace, err);
    }
    if (simulation->pairs) {
        const vxs_pairs_simulation *s = &settings->pairs;
        *summary = (vxs_simulation_summary){ .subjects = (size_t)s->subjects,
                                             .features = (size_t)s->features,
                                             .seed = s->seed };
        return vxs_simulate_pairs(context, s, directory, replace, err);
    }
    const vxs_lasso_simulation *s = &settings->lasso;
    *summary = (vxs_simulation_summary){ .subjects = (size_t)s->subjects,
                                         .features = (size_t)s->features,
                                         .seed = s->seed };
    return vxs_simulate_lasso(context, s, directory, replace, err);
}
