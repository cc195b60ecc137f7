/* cmd_simulate.c - voxsift simulate. */
#include "cli/cli.h"

#include <string.h>

static const vxs_operand operands[] = {
    { .name = "MODEL", .help = "simulation: see below", .choices = vxs_simulation_names },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift simulate lasso -o sim",
      "simulate 100 subjects with 5000 features, 1000 with nonzero weight" },
    { "voxsift simulate lasso --target diagnosis --nonzero 0.01 --seed 7 -o sim7",
      "simulate a diagnosis that depends on 50 features" },
    { "voxsift simulate fused --features 1000 --trees 5 -o forest",
      "simulate five trees of features with constant weights" },
    { "voxsift simulate pairs --pairs 5 -o pairs",
      "simulate a diagnosis that depends on five pairwise interactions" },
    { "voxsift simulate skfs-additive -o skfs",
      "simulate 200 images and a diagnosis that depends on 257 voxels nonlinearly" },
    { "voxsift simulate skfs-linear --images 't1/*.nii.gz' --mask lobe.nii.gz --subjects 40 \\\n"
      "    --sigma 262.75 -o own",
      "perturb your own images" },
    { "voxsift simulate spheres --regions 5 --target diagnosis -o spheres",
      "simulate images of patients and controls who differ in five spheres" },
    { NULL, NULL },
};

static const vxs_simulation *model_of(const vxs_call *call)
{
    const vxs_simulation *model = vxs_simulations;
    while (strcmp(model->name, call->operands[0]) != 0)
        model++;
    return model;
}

static void print_images_json(vxs_json_writer *w, const vxs_simulation_summary *s)
{
    vxs_json_whole(w, "subjects", (int64_t)s->subjects);
    vxs_json_whole(w, "voxels", (int64_t)s->features);
    vxs_json_whole(w, "perturbed", (int64_t)s->perturbed);
    vxs_json_whole(w, "positive", (int64_t)s->positive);
    vxs_json_whole(w, "spheres", (int64_t)s->spheres);
    vxs_json_whole(w, "sphere_voxels", (int64_t)s->sphere);
    vxs_json_open_array(w, "center_mm");
    for (int d = 0; d < 3; d++)
        vxs_json_real(w, NULL, s->center[d]);
    vxs_json_close_array(w);
    vxs_json_real(w, "factor", s->factor);
    vxs_json_real(w, "sigma", s->sigma);
    vxs_json_real(w, "mean", s->mean);
    vxs_json_real(w, "between_subjects", s->between);
    vxs_json_real(w, "seconds", s->seconds);
}

static void print_json(const vxs_call *call, const vxs_simulation *model,
                       const vxs_simulation_summary *s)
{
    vxs_json_writer writer;
    vxs_json_init(&writer, call->out);
    vxs_json_open_object(&writer, NULL);
    vxs_json_text(&writer, "cohort", call->shared->out);
    vxs_json_text(&writer, "simulation", model->name);
    vxs_json_params(&writer, "parameters", model->params, call->model);
    if (s->spheres > 0)
        print_images_json(&writer, s);
    vxs_close_json(call, &writer);
}

static void print_columns(const vxs_call *call, const vxs_simulation *model,
                          const vxs_simulation_summary *s)
{
    const char *out = call->shared->out;
    fprintf(call->out,
            "Simulated %zu subjects with %zu feature%s (seed %lld).\n  %s/features.npy      the "
            "data, one row per feature\n  %s/participants.tsv  subjects and target\n  %s/truth.tsv "
            "        the %s with nonzero weight\n",
            s->subjects, s->features, vxs_plural(s->features), (long long)s->seed, out, out, out,
            model->pairs ? "pairs of features" : "features");
    if (model->graph)
        fprintf(call->out, "  %s/%s         edges of the graph, for --graph\n", out, model->graph);
}

static void print_images(const vxs_call *call, const vxs_simulation_summary *s)
{
    const char *dir = call->shared->out;
    FILE *out = call->out;
    fprintf(out, "Simulated %zu subjects with %zu voxels of %.3g x %.3g x %.3g mm (seed %lld).\n",
            s->subjects, s->features, s->voxel_size[0], s->voxel_size[1], s->voxel_size[2],
            (long long)call->model->images.seed);
    if (s->perturbed > 0)
        fprintf(out, "  %zu are perturbed, %zu are positive\n", s->perturbed, s->positive);
    fprintf(out, "  %zu %s%s of %zu voxel%s, %s at %.4g, %.4g, %.4g mm\n", s->spheres,
            call->model->images.edge > 0 ? "texture" : "sphere", vxs_plural(s->spheres), s->sphere,
            vxs_plural(s->sphere), s->spheres > 1 ? "the first" : "centered", s->center[0],
            s->center[1], s->center[2]);
    fprintf(out,
            "  intensities within the mask before perturbation: mean %.3g, standard deviation "
            "%.3g\n  over the voxels of an image, %.3g over subjects at a voxel\n",
            s->mean, s->sigma, s->between);
    fprintf(out,
            "  %s/features.npy      the data, one row per voxel of mask.nii.gz\n  "
            "%s/participants.tsv  subjects and target\n  %s/truth.tsv         the voxels of the "
            "effect; truth.nii.gz: the same as an image\n",
            dir, dir, dir);
    if (call->model->images.write_images)
        fprintf(out, "  %s/*.nii.gz          one image per subject\n", dir);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_simulation *model = model_of(call);
    vxs_simulation_summary summary;
    vxs_status status = vxs_simulate(call->context, model, call->model, call->shared->out,
                                     call->shared->force, &summary, err);
    if (status)
        return status;
    if (call->shared->json)
        print_json(call, model, &summary);
    else if (summary.spheres > 0)
        print_images(call, &summary);
    else
        print_columns(call, model, &summary);
    return VXS_OK;
}

const vxs_command vxs_cmd_simulate = {
    .name = "simulate",
    .heading = "Make data",
    .summary = "simulate a cohort with known truth",
    .details =
        "Simulates a cohort directory with known truth: features (NPY), subjects with target (TSV) "
        "and truth.tsv. The output depends on the seed and the settings only, not on the number of "
        "threads.\n\n"
        "lasso simulates a sparse linear model, as in studies of screening rules: features uniform "
        "on [-10, 10], a fraction of weights uniform on [-1, 1], the others 0, and normal noise on "
        "the score.\n\n"
        "fused simulates a fused lasso: features as in lasso, and a connected random graph, a "
        "spanning tree with additional edges. Two subgraphs far apart have one constant weight "
        "each, uniform on [-1, 1]. With --trees, the graph is a forest and weights are constant on "
        "each tree. Pass graph.tsv to --graph.\n\n"
        "pairs simulates interactions: normal features, and weights 1 or -1 for pairs of them. The "
        "diagnosis is the sign of the weighted sum of products plus normal noise. No single "
        "feature is associated with the diagnosis, so linear methods fail; --method fgm "
        "--feature-map poly2 searches all pairs.\n\n"
        "skfs-linear, skfs-additive and skfs-nonadditive simulate images for structured kernel "
        "feature selection: the average brain with random deformation and intensity bias, or your "
        "own images. In the perturbed subjects, each voxel of one random sphere gets an "
        "independent normal value with mean --effect and the standard deviation of the image. In "
        "skfs-linear, half of the subjects are perturbed, and these are positive. In the other "
        "two, three quarters are perturbed, and those with the largest psi, half of all subjects, "
        "are positive. psi is a sum over the voxels of the sphere, in four groups: sin(v1) + "
        "exp(v2/2000) + v3/1500 + (v4/1500)^2 with groups in voxel order (skfs-additive), or v1 "
        "exp(v2/2000)/6200 + (v3/1500)^2 v4 with random groups (skfs-nonadditive). The tables "
        "record perturbed, psi and groups.\n\n"
        "spheres simulates a score from the means of several spheres, with weights of both signs "
        "and normal noise, in smooth noise images with standard deviation 1. --shape sets the "
        "grid.\n\n"
        "bags simulates a sign whose place differs between patients: in smooth noise images each "
        "patient has a small texture in one cube of --edge voxels, drawn from those that lie side "
        "by side in the mask. Weights of voxels predict little; --bags patches:MM, MM the edge of "
        "these cubes, finds it.",
    .operands = operands,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_MODEL,
    .examples = examples,
    .run = run,
};
