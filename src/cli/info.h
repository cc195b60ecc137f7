/* info.h - the descriptions that `voxsift info` prints, one per kind of file. */
#ifndef VXS_CLI_INFO_H
#define VXS_CLI_INFO_H

#include "cli/cli.h"

vxs_status vxs_info_table(const vxs_call *call, vxs_error *err);
vxs_status vxs_info_array(const vxs_call *call, vxs_error *err);
vxs_status vxs_info_image(const vxs_call *call, vxs_error *err);
vxs_status vxs_info_model(const vxs_call *call, vxs_error *err);
vxs_status vxs_info_atlas(const vxs_call *call, vxs_error *err);

#endif
