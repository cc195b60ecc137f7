/* cmd_simulate.c - voxsift simulate. */
#include "cli/cli.h"

#include <string.h>

static const vxs_operand operands[] = {
    { .name = "MODEL", .help = "what is simulated, see below", .choices = vxs_simulation_names },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift simulate lasso -o sim",
      "make 100 subjects with 5000 features, 1000 of which count" },
    { "voxsift simulate lasso --target diagnosis --nonzero 0.01 --seed 7 -o sim7",
      "make patients and controls who differ by 50 features" },
    { "voxsift simulate fused --features 1000 --trees 5 -o forest",
      "make features that are neighbors in five trees, and count tree by tree" },
    { "voxsift simulate pairs --pairs 5 -o pairs",
      "make patients and controls who differ in how five pairs go together" },
    { "voxsift simulate skfs-additive -o skfs",
      "make 200 brains whose diagnosis depends on 257 voxels, not linearly" },
    { "voxsift simulate skfs-linear --images 't1/*.nii.gz' --mask lobe.nii.gz --subjects 40 \\\n"
      "    --sigma 262.75 -o own",
      "perturb your own images" },
    { "voxsift simulate spheres --regions 5 --target diagnosis -o spheres",
      "make patients and controls who differ in five places" },
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
            "Simulated %zu subjects with %zu features (seed %lld).\n"
            "  %s/features.npy      the data, one row a feature\n"
            "  %s/participants.tsv  who they are and what is to be predicted\n"
            "  %s/truth.tsv         the %s that count, with their weights\n",
            s->subjects, s->features, (long long)s->seed, out, out, out,
            model->pairs ? "pairs of features" : "features");
    if (model->graph)
        fprintf(call->out, "  %s/%s         which features are neighbors, for --graph\n", out,
                model->graph);
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
    fprintf(out, "  %zu sphere%s of %zu voxels, %s at %.4g, %.4g, %.4g mm\n", s->spheres,
            s->spheres > 1 ? "s" : "", s->sphere, s->spheres > 1 ? "the first" : "centered",
            s->center[0], s->center[1], s->center[2]);
    fprintf(
        out,
        "  intensities before anything was done, on average: %.5g inside the mask, with\n"
        "  standard deviation %.5g over the voxels of an image, %.5g over subjects at a voxel\n",
        s->mean, s->sigma, s->between);
    fprintf(out,
            "  %s/features.npy      the data, one row a voxel of mask.nii.gz\n"
            "  %s/participants.tsv  who they are and what is to be predicted\n"
            "  %s/truth.tsv         the voxels that count; truth.nii.gz: the same as an overlay\n",
            dir, dir, dir);
    if (call->model->images.write_images)
        fprintf(out, "  %s/*.nii.gz          an image a subject\n", dir);
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
        "Writes a cohort directory with the features as an NPY file, the subjects and their target "
        "as a table, and the truth as another. Results of a method on it can be compared with the "
        "truth. Every number is a function of the seed and its place, whatever the number of "
        "threads.\n\n"
        "lasso is the simulation of the screening studies: features are uniform on [-10, 10], a "
        "share of them has a weight uniform on [-1, 1], and normal noise is added to the score.\n\n"
        "fused is the simulation of the studies of fused penalties: features as in lasso, and a "
        "graph of them. It is connected, a random spanning tree and random edges more, and in two "
        "subgraphs far from each other all features have the same weight, uniform on [-1, 1]; or, "
        "with --trees, a forest, and all features of a tree have the same weight. graph.tsv is "
        "for --graph.\n\n"
        "pairs has normal features, and pairs of them that have weights 1 or -1: the diagnosis is "
        "the sign of the sum of weight times the product of both features, with normal noise. No "
        "feature tells anything alone, so that no linear method finds them. --method fgm "
        "--feature-map "
        "poly2 looks at all pairs.\n\n"
        "The skfs models are those of structured kernel feature selection. Their images are the "
        "average brain, warped and shaded at random so that intensities vary between subjects, or "
        "images of yours. In some subjects every voxel of one random sphere gets a normal value "
        "of its own, with mean --effect and the standard deviation of that image. skfs-linear: "
        "half are perturbed, and these are positive. skfs-additive and skfs-nonadditive: three "
        "quarters are perturbed, and of these the ones with the largest psi are positive, so that "
        "half of all are. psi sums over the voxels of the sphere, dealt to four groups: "
        "sin(v1) + exp(v2/2000) + v3/1500 + (v4/1500)^2 with groups in the order of the voxels, "
        "and v1 exp(v2/2000)/6200 + (v3/1500)^2 v4 with random groups. Perturbed, psi and groups "
        "are in the tables.\n\n"
        "spheres sums the means inside several spheres, with weights of both signs and normal "
        "noise, to a score; its images are smooth noise with standard deviation 1. --shape makes "
        "it a grid of any size.",
    .operands = operands,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_MODEL,
    .examples = examples,
    .run = run,
};
