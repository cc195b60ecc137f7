/* Graphs, analysis operators and groups that cannot be. */
#include "tests/core/check.h"

#define NULL_IS(name) "argument '" name "' is NULL"

static const size_t shape[3] = { 3, 2, 1 }, voxels[3] = { 0, 1, 5 };

Test(arguments_graph, of_graphs)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_graph graph;
    static const int bad[] = { -6, 0, 7, 27 };
    REFUSES(vxs_graph_new(3, 2, NULL, &err), err, VXS_MISUSE, NULL_IS("graph"));
    REFUSES(vxs_graph_new(0, 2, &graph, &err), err, VXS_MISUSE, "there is no node number 0 of 0");
    vxs_graph_release(&graph);
    REFUSES(vxs_graph_new(3, SIZE_MAX, &graph, &err), err, VXS_FAILED, "not enough memory");
    vxs_graph_release(&graph);
    vxs_graph_release(NULL);
    REFUSES(vxs_graph_chain(3, NULL, &err), err, VXS_MISUSE, NULL_IS("graph"));
    REFUSES(vxs_graph_chain(SIZE_MAX, &graph, &err), err, VXS_FAILED, "not enough memory");
    WORKS(vxs_graph_chain(0, &graph, &err), err);
    cr_assert(graph.count == 0);
    vxs_graph_release(&graph);
    REFUSES(vxs_graph_grid(NULL, voxels, 3, 6, &graph, &err), err, VXS_MISUSE, NULL_IS("shape"));
    vxs_graph_release(&graph);
    REFUSES(vxs_graph_grid(shape, NULL, 3, 6, &graph, &err), err, VXS_MISUSE,
            "3 voxels without indices");
    REFUSES(vxs_graph_grid(shape, voxels, 3, 6, NULL, &err), err, VXS_MISUSE, NULL_IS("graph"));
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        REFUSES(vxs_graph_grid(shape, voxels, 3, bad[k], &graph, &err), err, VXS_MISUSE,
                "connectivity is 6, 18 or 26");
}

Test(arguments_graph, of_analysis_operators)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_analysis terms;
    REFUSES(vxs_analysis_new(3, 1, 2, NULL, &err), err, VXS_MISUSE, NULL_IS("terms"));
    /* one more than can be counted */
    REFUSES(vxs_analysis_new(3, SIZE_MAX, 2, &terms, &err), err, VXS_FAILED, "not enough memory");
    vxs_analysis_release(&terms);
    vxs_analysis_release(NULL);
    REFUSES(vxs_analysis_trend(9, NULL, &err), err, VXS_MISUSE, NULL_IS("terms"));
    REFUSES(vxs_analysis_trend(SIZE_MAX / 3 + 3, &terms, &err), err, VXS_FAILED,
            "not enough memory");
    WORKS(vxs_analysis_trend(0, &terms, &err), err);
    cr_assert(terms.count == 0);
    vxs_analysis_release(&terms);
}

Test(arguments_graph, of_groups)
{
    static const double step[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    static const double flat[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } };
    static const double none[3][3] = { { NAN, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    vxs_error err = VXS_ERROR_INIT;
    vxs_groups groups;
    REFUSES(vxs_groups_new(3, 1, 2, NULL, &err), err, VXS_MISUSE, NULL_IS("groups"));
    REFUSES(vxs_groups_new(3, SIZE_MAX, 2, &groups, &err), err, VXS_FAILED, "not enough memory");
    vxs_groups_release(&groups);
    vxs_groups_release(NULL);
    REFUSES(vxs_groups_spheres(NULL, voxels, 3, step, 1, &groups, &err), err, VXS_MISUSE,
            NULL_IS("shape"));
    vxs_groups_release(&groups);
    REFUSES(vxs_groups_spheres(shape, NULL, 3, step, 1, &groups, &err), err, VXS_MISUSE,
            "3 voxels without indices");
    REFUSES(vxs_groups_spheres(shape, voxels, 3, NULL, 1, &groups, &err), err, VXS_MISUSE,
            NULL_IS("step"));
    REFUSES(vxs_groups_spheres(shape, voxels, 3, step, 1, NULL, &err), err, VXS_MISUSE,
            NULL_IS("groups"));
    REFUSES(vxs_groups_spheres(shape, voxels, 3, step, NAN, &groups, &err), err, VXS_MISUSE,
            "the radius of a sphere is nan mm");
    REFUSES(vxs_groups_spheres(shape, voxels, 3, step, -1, &groups, &err), err, VXS_MISUSE,
            "the radius of a sphere is -1 mm");
    REFUSES(vxs_groups_spheres(shape, voxels, 3, flat, 1, &groups, &err), err, VXS_BAD_DATA,
            "singular");
    REFUSES(vxs_groups_spheres(shape, voxels, 3, none, 1, &groups, &err), err, VXS_BAD_DATA,
            "singular");
    WORKS(vxs_groups_spheres(shape, voxels, 3, step, INFINITY, &groups, &err), err);
    cr_assert(groups.members == 9); /* all voxels in each sphere */
    vxs_groups_release(&groups);
}
