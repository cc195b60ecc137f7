/* cmd_regions.c - voxsift regions. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "MAP",
      .help = "an image, such as a map of weights, or the directory of a model, cross-validation "
              "or stability selection" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift regions weights.nii.gz --atlas schaefer.nii.gz",
      "see where the weights are, in mm and by name" },
    { "voxsift regions zmap.nii.gz --threshold 3.1 --min-size 10 -o regions",
      "make table, label image and the files viewers need" },
    { "voxsift regions zmap.nii.gz --threshold 2.3 --table-format fsl",
      "print the table that FSL's cluster prints" },
    { NULL, NULL },
};

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    return vxs_regions(call->context, call->values, call->operands[0], call->shared->out,
                       call->shared->force, call->shared->json, call->warnings, call->out, err);
}

const vxs_command vxs_cmd_regions = {
    .name = "regions",
    .heading = "Look at data",
    .summary = "list the clusters of a map with their peaks and atlas labels",
    .details =
        "Voxels above the threshold in size that hang together make a cluster, positive and "
        "negative ones apart. The table has, for each: its size in voxels and mm3, the value and "
        "position of its peak, its center of gravity (weighted by the size of the values), mean "
        "and sum, and from every atlas three columns: peak_label, the label at the peak, "
        "overlap_label, the label that covers most of the cluster, and overlap_percent, how much "
        "of it that is. Positions are mm, RAS+. The largest cluster is number 1; "
        "in FSL's table it has the highest number, as there.\n\n"
        "With -o, clusters.nii.gz holds the number of each cluster, beside label files for "
        "FSLeyes, "
        "MRIcroGL, ITK-SNAP and NiiVue and the command line that opens the map in FSLeyes with the "
        "window starting at the threshold.\n\n"
        "Names of labels are looked for beside the atlas: FSL XML, FSLeyes .lut, MRIcroGL .txt, "
        "ITK-SNAP, BIDS dseg.tsv, Schaefer's order.txt.",
    .operands = operands,
    .params = vxs_regions_params,
    .takes = VXS_TAKES_OUTPUT | VXS_OUTPUT_OPTIONAL | VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
