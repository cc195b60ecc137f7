/* cmd_regions.c - voxsift regions. */
#include "cli/cli.h"

static const vxs_operand operands[] = {
    { .name = "MAP",
      .help = "an image, such as a weight map; or a directory of fit, cv or stability: its weights "
              "(mean over folds), or stable voxels" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift regions weights.nii.gz --atlas schaefer.nii.gz",
      "list where the weights are, in mm and by atlas label" },
    { "voxsift regions zmap.nii.gz --threshold 3.1 --min-size 10 -o regions",
      "write table, label image and files for viewers" },
    { "voxsift regions zmap.nii.gz --threshold 2.3 --table-format fsl",
      "print the table that FSL's cluster prints" },
    { NULL, NULL },
};

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    return vxs_regions(call->context, call->values, call->operands[0], call->shared->out,
                       call->shared->force, call->shared->json, call->terminal, call->warnings,
                       call->out, err);
}

const vxs_command vxs_cmd_regions = {
    .name = "regions",
    .heading = "Look at data",
    .summary = "list the clusters of a map with their peaks and atlas labels",
    .details =
        "Clusters are connected components of voxels with absolute value above the threshold; "
        "positive and negative voxels form separate clusters. The table lists size (voxels, mm3), "
        "peak value and position, center of gravity (weighted by absolute value), mean and sum of "
        "each cluster. Each atlas adds three columns: peak_label, the label at the peak; "
        "overlap_label, the label that covers most of the cluster; overlap_percent, the percentage "
        "that it covers. Positions are in mm, RAS+. Cluster 1 is the largest; in FSL's table the "
        "largest has the highest number.\n\n"
        "The terminal shows three significant digits; --json has all.\n\n"
        "With -o, writes clusters.nii.gz (cluster numbers), label files for FSLeyes, MRIcroGL, "
        "ITK-SNAP and NiiVue, and a script that opens the map in FSLeyes with the display range "
        "starting at the threshold.\n\n"
        "Label names are read from a file next to the atlas: FSL XML, FSLeyes .lut, MRIcroGL .txt, "
        "ITK-SNAP, BIDS dseg.tsv, Schaefer's order.txt.",
    .operands = operands,
    .params = vxs_regions_params,
    .takes = VXS_TAKES_OUTPUT | VXS_OUTPUT_OPTIONAL | VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
