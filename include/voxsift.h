/* voxsift.h - the whole library: what stands in voxsift/. See docs/layout.md for the rooms behind
 * it. */
#ifndef VOXSIFT_H
#define VOXSIFT_H

#include "voxsift/cohort.h"
#include "voxsift/core.h"
#include "voxsift/design.h"
#include "voxsift/graph.h"
#include "voxsift/image.h"
#include "voxsift/loss.h"
#include "voxsift/model.h"
#include "voxsift/penalty.h"
#include "voxsift/solver.h"
#include "voxsift/verify.h"

#endif
